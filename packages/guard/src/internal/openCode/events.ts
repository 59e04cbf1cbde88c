/** The hooks of an opencode plugin as steps of guarded sessions. */
import type { GivenCall, GuardSession } from "@belay/core/Driver"
import type { Json } from "@belay/core/Json"
import type { ToolCallVerdict } from "@belay/core/Verdict"
import { GuardError } from "../../GuardError.ts"
import { decide } from "../decide.ts"
import { injectedText, withInjected } from "../injected.ts"
import { jsonOf, sameJson } from "../json.ts"
import type { Described } from "../place.ts"
import { unseenBeside } from "../unseen.ts"
import { writeArgs } from "../writeArgs.ts"
import {
  appendOutput,
  failedOf,
  joined,
  outputOf,
  type Part,
  shown,
  textOf,
  type ToolEvent,
  type ToolOutput,
  writeOutput,
  writeText
} from "./payloads.ts"

/** The tool with which an agent starts another one. */
const delegates = "task"

/** One conversation of opencode. */
export interface Conversation {
  readonly session: GuardSession
  /** What hooks have injected, by the call in whose result the model reads it. */
  readonly context: Map<string, string>
  /** What the model reads of failed calls, by call. opencode passes the original again with each request. */
  readonly failed: Map<string, string>
}

/** A class, because the hooks share the conversations. */
export class Events {
  private readonly find: (id: string, agent?: string) => Promise<Conversation>
  private readonly hints: { readonly [tool: string]: Described }

  constructor(find: Events["find"], hints: Events["hints"]) {
    this.find = find
    this.hints = hints
  }

  /** A message of the user, or the task of a sub-agent, begins a turn. */
  readonly message = async (
    { agent, sessionID }: { readonly sessionID: string; readonly agent?: string },
    { parts }: { readonly parts: Array<Part> }
  ): Promise<void> => {
    const { session } = await this.find(sessionID, agent)
    const text = textOf(parts)
    const verdict = await session.userMessage(unseenBeside(text))
    if (verdict.type === "respond") throw new GuardError({ type: "deny", by: "runtime", reason: verdict.text })
    if (verdict.type !== "allow") throw new GuardError(verdict)
    const now = joined([verdict.input.message, ...verdict.context.map((one) => one.text)])
    if (now !== text) writeText(parts, now)
  }

  /** A tool is about to run. It runs unless this throws. */
  readonly before = async (event: ToolEvent, output: { readonly args: unknown }): Promise<void> => {
    const conversation = await this.find(event.sessionID)
    const { context, failed, session } = conversation
    try {
      const args = jsonOf(output.args ?? {})
      if (event.tool === delegates) await delegate(session, Object(args))
      const verdict = await decided(session, this.callOf(event, args))
      if (verdict.type !== "allow") throw refusal(verdict)
      writeArgs(output.args, verdict.args)
      if (verdict.context.length > 0) context.set(event.callID, injectedText(verdict.context))
    } catch (error) {
      // The model reads this text. It is not the result of a tool.
      failed.set(event.callID, error instanceof Error ? error.message : String(error))
      throw error
    }
  }

  /** A tool has run. If this throws, the model reads the error in place of the result. */
  readonly after = async (event: ToolEvent & { readonly args: unknown }, output: unknown): Promise<void> => {
    // A sub-agent that failed has no result.
    if (typeof output !== "object" || output === null) return
    const result: ToolOutput = output
    const { context, session } = await this.find(event.sessionID)
    const before = outputOf(result)
    const wasError = result.isError === true
    const verdict = await session.toolResult(
      this.callOf(event, jsonOf(event.args ?? {})),
      wasError ? { ok: false, error: shown(before) } : { ok: true, output: before }
    )
    if (verdict.type === "stop") {
      writeOutput(result, verdict.reason)
      return
    }
    const now: Json = verdict.result.ok ? verdict.result.output : verdict.result.error
    if (!sameJson(now, wasError ? shown(before) : before)) writeOutput(result, shown(now))
    const more = joined([context.get(event.callID) ?? "", ...verdict.context.map(({ text }) => text)])
    context.delete(event.callID)
    if (more !== "") appendOutput(result, more)
  }

  /** The model is about to read the conversation. The results of failed tools come only here. */
  readonly messages = async (
    _input: unknown,
    output: {
      readonly messages: ReadonlyArray<{
        readonly info: { readonly sessionID: string }
        readonly parts: ReadonlyArray<Part>
      }>
    }
  ): Promise<void> => {
    for (const { info, parts } of output.messages) {
      for (const part of parts) {
        const state = failedOf(part)
        if (state !== undefined) state.error = await this.errorOf(info.sessionID, part, state)
      }
    }
  }

  private async errorOf(
    sessionID: string,
    { callID = "", id = callID, tool = "" }: Part,
    { error, input }: { readonly error: string; readonly input?: unknown }
  ): Promise<string> {
    const { context, failed, session } = await this.find(sessionID)
    const known = failed.get(callID) ?? failed.get(id)
    if (known !== undefined) return known
    // A task that a command starts has the id of its part as the id of the call.
    const call = this.callOf({ callID: context.has(id) ? id : callID, sessionID, tool }, jsonOf(input ?? {}))
    const verdict = await session.toolResult(call, { ok: false, error })
    const more = context.get(call.id) ?? ""
    context.delete(call.id)
    const now = verdict.type === "stop"
      ? verdict.reason
      : joined([
        shown(verdict.result.ok ? verdict.result.output : verdict.result.error),
        more,
        ...verdict.context.map(({ text }) => text)
      ])
    failed.set(callID, now)
    return now
  }

  private callOf({ callID: id, tool: name }: ToolEvent, args: Json): GivenCall {
    return { id, name, args, tool: Object.hasOwn(this.hints, name) ? this.hints[name]! : {} }
  }
}

/** opencode has no question that a plugin can ask, so a question is a refusal. */
const decided = async (session: GuardSession, call: GivenCall): Promise<ToolCallVerdict> => {
  const verdict = await session.toolCall(call)
  if (verdict.type !== "ask") return verdict
  const { by, reason } = verdict.question
  return await decide(session, call.id, {
    type: "deny",
    reason: `not run: ${by} asks a person, and a plugin of opencode cannot ask one: ${reason}`
  }, verdict.context)
}

const refusal = (verdict: Exclude<ToolCallVerdict, { readonly type: "allow" }>): GuardError => {
  const error = (type: "ask" | "deny" | "stop", by: string, reason: string) =>
    new GuardError({ type, by, reason: withInjected(reason, verdict.context) })
  switch (verdict.type) {
    case "respond":
      return error("deny", "runtime", `not run, and this is its result: ${shown(verdict.result)}`)
    case "ask":
      return error("ask", verdict.question.by, verdict.question.reason)
    default:
      return error(verdict.type, verdict.by, verdict.reason)
  }
}

/** Throws if the agent must not start another one. */
const delegate = async (session: GuardSession, given: { readonly [key: string]: unknown }): Promise<void> => {
  const message = shown(jsonOf(given["prompt"] ?? ""))
  const agent = shown(jsonOf(given["subagent_type"] ?? "agent"))
  const verdict = await session.delegation({ agent, type: "delegate", message })
  if (verdict.type === "respond") throw new GuardError({ type: "deny", by: "runtime", reason: verdict.result.text })
  if (verdict.type !== "allow") throw new GuardError(verdict)
  if (verdict.delegation.message === message) return
  throw new GuardError({
    type: "deny",
    by: "runtime",
    reason: "a hook changed the task: change the arguments of the tool in preToolCall instead"
  })
}
