/**
 * Writes down what an agent did: one entry for every session, turn, model call and tool call that begins, ends, fails
 * or is denied.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { type Eventual, eventual } from "@belay/core/Eventual"
import type { HookContext } from "@belay/core/HookContext"
import { digest, type Json } from "@belay/core/Json"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HookDefaults from "../HookDefaults.ts"

/** What an entry is about. @category models @since 0.1.0 */
export type EntryName =
  | "session_start"
  | "session_end"
  | "turn_start"
  | "turn_end"
  | "turn_error"
  | "llm_start"
  | "llm_end"
  | "llm_error"
  | "tool_start"
  | "tool_end"
  | "tool_denied"

/** One entry. What else it says depends on what it is about. @category models @since 0.1.0 */
export interface Entry {
  /** Milliseconds since the epoch. */
  readonly time: number
  readonly event: EntryName
  readonly session: string
  readonly turn: number
  readonly step: number
  readonly agent: string
  readonly [fact: string]: Json
}

/**
 * Where entries go. The agent waits for it, so that an entry is written before the agent goes on.
 *
 * @category models
 * @since 0.1.0
 */
export type Sink = (entry: Entry) => Eventual<void>

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  readonly sink: Sink
  /** Writes texts, arguments and results themselves, not only their length and digest. Default false. */
  readonly content?: boolean
}

/**
 * Observes everything and changes nothing; a sink that breaks does not break the agent. Where hooks decided something,
 * the entry
 * has their `decision`.
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
  const { content = false, sink } = options
  const write = (event: EntryName, ctx: HookContext, facts: Facts): Effect.Effect<void, unknown> =>
    Effect.flatMap(Clock.currentTimeMillis, (time) => eventual(() => sink(entry(time, event, ctx, facts))))
  const say = (value: unknown): Json => {
    const text = typeof value === "string" ? value : JSON.stringify(value) ?? ""
    const facts = { length: text.length, digest: digest(value) }
    return content ? { ...facts, content: (value ?? null) as Json } : facts
  }
  const failure = (error: { readonly _tag: string; readonly message: string }): Facts => ({
    error: error._tag,
    message: say(error.message)
  })
  return HookDefaults.apply(options, {
    name: "audit-log",
    priority: 50,
    kind: "observer",
    allowReentry: true,
    onSessionStart: ({ source }, ctx) => write("session_start", ctx, { source }),
    onSessionEnd: ({ reason }, ctx) => write("session_end", ctx, { reason }),
    preTurn: ({ attachments, message }, ctx) =>
      write("turn_start", ctx, { message: say(message), attachments: attachments?.length ?? 0 }),
    postTurn: ({ executed, output: { finishReason, text, toolCalls, usage } }, ctx) =>
      write("turn_end", ctx, { text: say(text), finishReason, toolCalls, usage, executed }),
    onTurnError: ({ error }, ctx) =>
      write("turn_error", ctx, {
        ...failure(error),
        ...("hook" in error ? { hook: error.hook, point: error.point } : {}),
        ...("reason" in error ? { reason: error.reason } : {})
      }),
    preLlmCall: (request, ctx) =>
      write("llm_start", ctx, { model: request.model, messages: request.messages.length, tools: request.tools.length }),
    postLlmCall: ({ attempt, executed, provider, response }, ctx) =>
      write("llm_end", ctx, {
        provider,
        model: response.model,
        attempt,
        text: say(response.text),
        tools: response.toolCalls.map(({ name }) => name),
        finishReason: response.finishReason,
        usage: response.usage,
        executed
      }),
    onLlmError: ({ attempt, decision, error, provider }, ctx) =>
      write("llm_error", ctx, { provider, attempt, ...failure(error), status: error.status, next: decision.type }),
    preToolCall: (call, ctx) =>
      write("tool_start", ctx, { call: call.id, tool: call.name, args: say(call.args), sandbox: call.grant.sandbox }),
    postToolCall: ({ call, elapsedMs, executed, result }, ctx) =>
      write("tool_end", ctx, {
        call: call.id,
        tool: call.name,
        ok: result.ok,
        ...(result.ok ? { output: say(result.output) } : { error: say(result.error) }),
        elapsedMs,
        executed
      }),
    onToolDenied: ({ by, call, reason }, ctx) =>
      write("tool_denied", ctx, { call: call.id, tool: call.name, by, reason })
  })
}

/**
 * Renders an entry as one line of JSON without its line end. Control, line-breaking and invisible characters are
 * escaped,
 * so that no text can forge a line or move a terminal's cursor.
 *
 * @category rendering
 * @since 0.1.0
 */
export const line = (entry: Entry): string =>
  JSON.stringify(entry).replace(
    /[\u007f-\u009f\u2028\u2029]|\p{Cf}/gu,
    (character) => character.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")
  )

type Facts = { readonly [fact: string]: Json | undefined }

const entry = (time: number, event: EntryName, ctx: HookContext, facts: Facts): Entry => {
  const { agent, outcome, sessionId, stepNumber, turnNumber } = ctx
  const known = Object.fromEntries(
    Object.entries(facts).filter((fact): fact is [string, Json] => fact[1] !== undefined)
  )
  const about = { time, event, session: sessionId, turn: turnNumber, step: stepNumber, agent: agent.name, ...known }
  if (outcome === undefined || outcome.action === "Continue") return about
  const { action, decidedBy, reason } = outcome
  const by = decidedBy === undefined ? {} : { by: decidedBy }
  return { ...about, decision: { action, ...by, ...(reason === undefined ? {} : { reason }) } }
}
