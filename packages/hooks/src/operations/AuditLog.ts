/**
 * Logs what an agent does: one entry when a session, turn, model call or tool call starts, ends, fails or is denied.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { checked } from "@belay/core/ArgumentCheck"
import { type Eventual, eventual } from "@belay/core/Eventual"
import type { HookContext } from "@belay/core/HookContext"
import { digest, type Json } from "@belay/core/Json"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import { withoutUndefined } from "../internal/withoutUndefined.ts"

/** The event of an entry. @category models @since 0.1.0 */
export type EntryName =
  | "session_start"
  | "session_end"
  | "turn_start"
  | "steer"
  /** A part of the input beside the message, such as the history of a client. */
  | "input_part"
  | "turn_end"
  | "turn_error"
  | "llm_start"
  | "llm_end"
  | "llm_error"
  | "tool_start"
  | "tool_end"
  | "tool_denied"

/** One entry. Further fields depend on the event. @category models @since 0.1.0 */
export interface Entry {
  /** Milliseconds since the epoch. */
  readonly time: number
  readonly event: EntryName
  readonly session: string
  /** For a sub-agent: the session that the host opened. */
  readonly root?: string
  readonly turn: number
  readonly step: number
  readonly agent: string
  readonly [fact: string]: Json | undefined
}

/**
 * Receives entries. The agent waits for it, so that an entry is written before the agent continues.
 *
 * @category models
 * @since 0.1.0
 */
export type Sink = (entry: Entry) => Eventual<void>

/** Options of `AuditLog.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** Receives the entries. Required. */
  readonly sink: Sink
  /** Whether texts, arguments and results are logged, not only their lengths and digests. Default false. */
  readonly content?: boolean
}

const optionKinds: HookDefaults.OwnKinds<Options> = {
  sink: ["function", "object"],
  content: "flag"
}

/**
 * Logs as an observer, which changes nothing. The entries of a sub-agent have the session of the whole conversation in
 * the field `root`. When the sink fails, the agent continues. If hooks decided something, the
 * entry contains their `decision`.
 *
 * @example
 * ```ts
 * import * as AuditFile from "@belay/hooks/AuditFile"
 * import * as AuditLog from "@belay/hooks/AuditLog"
 *
 * const toFile = AuditLog.make({ sink: AuditFile.make("audit.jsonl") })
 * const toMemory: Array<AuditLog.Entry> = []
 * const all = AuditLog.make({ sink: (entry) => void toMemory.push(entry), content: true })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  HookDefaults.checkKinds("audit-log", options, optionKinds, ["sink"])
  const { content = false, sink } = options
  const writeAt = (time: number, event: EntryName, ctx: HookContext, facts: Facts): Effect.Effect<void, unknown> => {
    const written = Result.try(() => sink(entry(time, event, ctx, facts)))
    if (Result.isFailure(written)) return Effect.fail(written.failure)
    const { success } = written
    // Most sinks write at once.
    return success === undefined ? Effect.void : eventual(() => success)
  }
  const write = (event: EntryName, ctx: HookContext, facts: Facts): Effect.Effect<void, unknown> => {
    // The fiber of the turn, unless the hook is called after another hook was awaited.
    const fiber = Fiber.getCurrent()
    return fiber === undefined
      ? Effect.flatMap(Clock.currentTimeMillis, (time) => writeAt(time, event, ctx, facts))
      : writeAt(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe(), event, ctx, facts)
  }
  const describe = (value: unknown): Json => {
    const text = typeof value === "string" ? value : JSON.stringify(value) ?? ""
    const facts = { length: text.length, digest: digest(value) }
    // Texts, arguments and results are JSON.
    return content ? { ...facts, content: (value ?? null) as Json } : facts
  }
  const failure = (error: { readonly _tag: string; readonly message: string }): Facts => ({
    error: error._tag,
    message: describe(error.message)
  })
  return HookDefaults.apply(options, {
    name: "audit-log",
    priority: 50,
    kind: "observer",
    allowReentry: true,
    onSessionStart: ({ source }, ctx) => write("session_start", ctx, { source }),
    onSessionEnd: ({ reason }, ctx) => write("session_end", ctx, { reason }),
    preTurn: ({ attachments, message, part, steer }, ctx) =>
      write(steer === true ? "steer" : part === undefined ? "turn_start" : "input_part", ctx, {
        ...(part === undefined ? {} : { part }),
        message: describe(message),
        attachments: attachments?.length ?? 0
      }),
    postTurn: ({ executed, output: { finishReason, text, toolCalls, usage } }, ctx) =>
      write("turn_end", ctx, { text: describe(text), finishReason, toolCalls, usage, executed }),
    onTurnError: ({ error }, ctx) =>
      write("turn_error", ctx, {
        ...failure(error),
        hook: "hook" in error ? error.hook : undefined,
        point: "hook" in error ? error.point : undefined,
        reason: "reason" in error ? error.reason : undefined
      }),
    preLlmCall: (request, ctx) =>
      write("llm_start", ctx, { model: request.model, messages: request.messages.length, tools: request.tools.length }),
    postLlmCall: ({ attempt, executed, provider, response }, ctx) =>
      write("llm_end", ctx, {
        provider,
        model: response.model,
        attempt,
        text: describe(response.text),
        tools: response.toolCalls.map(({ name }) => name),
        finishReason: response.finishReason,
        response: response.id,
        usage: response.usage,
        executed
      }),
    onLlmError: ({ attempt, decision, error, provider }, ctx) =>
      write("llm_error", ctx, { provider, attempt, ...failure(error), status: error.status, next: decision.type }),
    preToolCall: (call, ctx) =>
      write("tool_start", ctx, {
        call: call.id,
        tool: call.name,
        args: describe(call.args),
        sandbox: call.grant.sandbox
      }),
    postToolCall: ({ call, elapsedMs, executed, result }, ctx) =>
      write("tool_end", ctx, {
        call: call.id,
        tool: call.name,
        ok: result.ok,
        output: result.ok ? describe(result.output) : undefined,
        error: result.ok ? undefined : describe(result.error),
        elapsedMs,
        executed
      }),
    onToolDenied: ({ by, call, reason }, ctx) =>
      write("tool_denied", ctx, { call: call.id, tool: call.name, by, reason })
  })
}

/**
 * Renders an entry as one line of JSON, without the line end. Control, line-breaking and invisible characters are
 * escaped, so that no text can forge a line or move the cursor of a terminal.
 *
 * @category rendering
 * @since 0.1.0
 */
export const line = checked("AuditLog.line", ["entry"], (entry: Entry): string => {
  const text = JSON.stringify(entry)
  return isPrintable.test(text) ? text : text.replace(
    /[\u007f-\u009f\u2028\u2029]|\p{Cf}/gu,
    (character) => character.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")
  )
})

/** Most lines have nothing to escape. */
const isPrintable = /^[\x20-\x7e]*$/

/** Facts of an entry. Undefined ones are left out. */
type Facts = { readonly [fact: string]: Json | undefined }

/** What the hooks decided. */
type Decision = { readonly action: string; readonly by?: string; readonly reason?: string }

const entry = (time: number, event: EntryName, ctx: HookContext, facts: Facts): Entry => {
  const { agent, outcome, root, sessionId, stepNumber, turnNumber } = ctx
  const base: { -readonly [K in keyof Entry]: Entry[K] } = root.sessionId === sessionId && agent.depth === 0
    ? { time, event, session: sessionId, turn: turnNumber, step: stepNumber, agent: agent.name }
    : { time, event, session: sessionId, root: root.sessionId, turn: turnNumber, step: stepNumber, agent: agent.name }
  for (const fact of Object.keys(facts)) if (facts[fact] !== undefined) base[fact] = facts[fact]
  if (outcome === undefined || outcome.action === "Continue") return base
  const { action, decidedBy, reason } = outcome
  return { ...base, decision: withoutUndefined<Decision>({ action, by: decidedBy, reason }) }
}
