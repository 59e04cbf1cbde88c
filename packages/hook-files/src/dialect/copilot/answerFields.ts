/** Decodes the JSON of an answer. Its fields are at the top level or, as in other systems, in `hookSpecificOutput`. */
import { defined } from "@belay/core/Fields"
import type { ToolResult } from "@belay/core/Tool"
import { cap, type Fields, type Reader, reader, someMessage } from "../../internal/fields.ts"
import type { Answer, Wish } from "./answer.ts"
import type { EventName } from "./events.ts"

export interface Decoded extends Pick<Answer, "denied" | "context" | "messages" | "problems" | "wish"> {
  /** The value of `permissionDecisionReason`. */
  readonly reason?: string
}

/** The parts of an answer from which the fields of one event are decoded. */
interface Parts {
  readonly json: Fields
  readonly inner: Fields
  /** Returns the part of the answer that has a field. */
  readonly from: (key: string) => Fields
  readonly read: Reader
  readonly pascal: boolean
  readonly reason: string | undefined
  readonly context: string | undefined
}

type Own = { readonly wish: Wish } & Partial<Pick<Decoded, "denied" | "context" | "messages">>

export const decodeFields = (json: Fields, point: EventName, pascal: boolean): Decoded => {
  const read = reader()
  const inner = read.fields(json, "hookSpecificOutput") ?? {}
  const from = (key: string): Fields => Object.hasOwn(json, key) ? json : inner
  const reason = read.text(from("permissionDecisionReason"), "permissionDecisionReason")
  const context = read.text(from("additionalContext"), "additionalContext")
  const message = (pascal ? read.text(json, "systemMessage") : undefined) ?? ""
  const stop = pascal && read.flag(json, "continue") === false
    ? cap(read.text(json, "stopReason") ?? "stopped by a hook")
    : undefined
  const own = decoders[point]?.({ json, inner, from, read, pascal, reason, context }) ?? { wish: {} }
  return {
    messages: message === "" ? [] : [cap(message)],
    ...defined({
      reason: reason === undefined ? undefined : cap(reason),
      context: context === undefined || context.trim() === "" ? undefined : context
    }),
    ...own,
    wish: { ...own.wish, ...defined({ stop }) },
    problems: read.problems
  }
}

/** Reads a text that must not be empty. */
const someText = (key: string, { from, read: { problems, text } }: Parts): string | undefined => {
  const found = text(from(key), key)
  if (found !== "") return found
  problems.push(`${key} does not count: expected a text that is not empty`)
  return undefined
}

const preToolUse = ({ from, inner, json, read: { object, oneOf, text }, reason }: Parts): Own => {
  const old = oneOf(json, "decision", "approve", "allow", "block", "deny")
  const decision = oneOf(from("permissionDecision"), "permissionDecision", "allow", "deny", "ask") ??
    (old === "block" || old === "deny" ? "deny" : undefined)
  const args = object(from("modifiedArgs"), "modifiedArgs") ?? object(inner, "updatedInput")
  const why = cap(reason || text(json, "reason") || someMessage(json) || "Denied by preToolUse hook")
  const wish = defined({
    permission: decision === "deny" ? undefined : decision,
    permissionReason: decision === "ask" && reason !== undefined ? cap(reason) : undefined,
    args
  })
  return decision === "deny" ? { wish, denied: why } : { wish }
}

const permissionRequest = ({ inner, json, read: { fields, flag, oneOf, text } }: Parts): Own => {
  const nested = Object.hasOwn(json, "behavior")
    ? json
    : fields(inner, "decision") ?? fields(json, "decision") ?? json
  const [behavior, why] = [oneOf(nested, "behavior", "allow", "deny"), text(nested, "message")]
  return {
    wish: defined({
      behavior,
      behaviorReason: why === undefined ? undefined : cap(why),
      interrupt: flag(nested, "interrupt") === true ? true : undefined
    })
  }
}

const stopWish = ({ from, read: { oneOf, text } }: Parts): Wish => {
  const decision = oneOf(from("decision"), "decision", "block", "allow", "approve")
  const why = text(from("reason"), "reason")
  if (decision === undefined) return {}
  return { block: decision === "block" && cap(why || "Continue: a hook does not allow you to stop yet.") }
}

const postToolUse = ({ context, from, json, pascal, read: { fields, oneOf, problems, text } }: Parts): Own => {
  const given = fields(from("modifiedResult"), "modifiedResult")
  const shown = given === undefined ? undefined : text(given, "textResultForLlm")
  if (given !== undefined && shown === undefined) {
    problems.push("modifiedResult does not count: expected a textResultForLlm")
  }
  const type = given === undefined
    ? undefined
    : oneOf(given, "resultType", "success", "failure", "denied", "rejected", "error")
  const isBlocked = pascal && oneOf(json, "decision", "block", "approve") === "block"
  const texts = [context, isBlocked ? text(json, "reason") : undefined]
    .filter((one) => one !== undefined && one.trim() !== "")
  const result = shown === undefined ? undefined : resultOf(shown, type ?? "success")
  const own = { wish: defined({ result }) }
  return texts.length === 0 ? own : { ...own, context: texts.join("\n\n") }
}

const resultOf = (shown: string, type: string): ToolResult =>
  type === "success" ? { ok: true, output: shown } : { ok: false, error: shown }

const errorOccurred = ({ json, read: { oneOf, text } }: Parts): Own => {
  const handling = oneOf(json, "errorHandling", "retry", "skip", "abort")
  const retries = json["retryCount"]
  const note = text(json, "userNotification") ?? ""
  const isCount = typeof retries === "number" && Number.isSafeInteger(retries) && retries >= 0
  const wish = defined({ handling, retries: isCount ? retries : undefined })
  return note === "" ? { wish } : { wish, messages: [cap(note)] }
}

/** The decoder for the own fields of each event. Events that are not listed have only the common fields. */
const decoders: { readonly [E in EventName]?: (parts: Parts) => Own } = {
  preToolUse,
  permissionRequest,
  agentStop: (parts) => ({ wish: stopWish(parts) }),
  subagentStop: (parts) => {
    const block = stopWish(parts)
    const response = parts.read.text(parts.from("modifiedResponse"), "modifiedResponse")
    return { wish: { ...block, ...defined({ response }) } }
  },
  postToolUse,
  userPromptSubmitted: (parts) => ({ wish: defined({ prompt: someText("modifiedPrompt", parts) }) }),
  userPromptTransformed: (parts) => ({
    wish: defined({ transformed: someText("modifiedTransformedPrompt", parts) })
  }),
  errorOccurred,
  preMcpToolCall: ({ json, read: { problems } }) => {
    if (json["metaToUse"] !== undefined) {
      problems.push("metaToUse does not count: calls of MCP servers cannot carry metadata from hooks")
    }
    return { wish: {} }
  }
}
