/** Decodes the JSON of an answer field by field. An invalid field is ignored, and the other fields count. */
import { defined } from "@belay/core/Fields"
import type { Json, JsonObject } from "@belay/core/Json"
import { cap, type Fields, isFields, type Reader, reader, someMessage } from "../../../internal/fields.ts"
import { type EventName, rowOf } from "../event/events.ts"
import type { Answer } from "./answer.ts"

/**
 * Decodes an answer. The `outcome` is always `success`, even if the answer has `blocked`; the caller sets `blocking`.
 */
export const decodeFields = (json: Fields, event: EventName): Answer => {
  const read = reader()
  const { flag, problems, text } = read
  const specific = specificOf(json, event, problems)
  const stop = flag(json, "continue") === false ? cap(text(json, "stopReason") ?? "stopped by a hook") : undefined
  const message = text(json, "systemMessage") ?? ""
  const decision = decisionOf(json, specific, event, read)
  const output = outputOf(specific, event, read)
  const host = hostFields(json, specific, event, read)
  const isSuppressed = flag(json, "suppressOutput") === true
  return {
    outcome: "success",
    ...defined({
      stop,
      blocked: decision.blocked ?? stop,
      permission: decision.permission,
      permissionReason: decision.permissionReason,
      updatedInput: decision.input,
      interrupt: decision.interrupt === true ? true : undefined,
      permissions: decision.permissions,
      suppressOutput: isSuppressed ? true as const : undefined
    }),
    ...output,
    ...host,
    context: decision.feedback === undefined ? output.context : [...output.context, cap(decision.feedback)],
    messages: message === "" || isSuppressed ? [] : [cap(message)],
    problems
  }
}

const outputOf = (specific: Fields, event: EventName, { flag, json, text }: Reader) => ({
  ...defined({
    updatedOutput: json(specific, "updatedToolOutput"),
    updatedMcpOutput: json(specific, "updatedMCPToolOutput"),
    retry: flag(specific, "retry")
  }),
  context: [
    text(specific, "additionalContext"),
    event === "SessionStart" ? text(specific, "initialUserMessage") : undefined
  ].filter((one): one is string => one !== undefined && one.trim() !== "")
})

/** Fields for the host. */
const hostFields = (json: Fields, specific: Fields, event: EventName, read: Reader) => {
  const sequence = read.text(json, "terminalSequence")
  return defined({
    title: read.text(specific, "sessionTitle")?.slice(0, 500),
    terminal: sequence !== undefined && harmless.test(sequence) ? sequence : undefined,
    watch: read.texts(specific, "watchPaths")?.slice(0, 1_000),
    answer: answerOf(specific, event, read)
  })
}

/** Control sequences that set a title, send a notification or ring the bell. */
// oxlint-disable-next-line no-control-regex -- control sequences are what this is about
const harmless = /^(?:\u0007|\u001B\](?:0|1|2|9|99|777);[^\u0000-\u001F\u007F-\u009F]{0,1000}(?:\u0007|\u001B\\))+$/

interface Decision extends Permission {
  readonly blocked: string | undefined
  /** What the model reads about an operation that is over. */
  readonly feedback: string | undefined
  readonly permission: Answer["permission"]
  readonly permissionReason: string | undefined
}

/**
 * Reads whether the operation is blocked, allowed or left to a person, from the old field `decision` or from the newer
 * fields.
 */
const decisionOf = (json: Fields, specific: Fields, event: EventName, read: Reader): Decision => {
  const { problems } = read
  const decision = read.oneOf(json, "decision", "block", "approve")
  const permission = event === "PermissionRequest"
    ? permissionOf(read.fields(specific, "decision"), read)
    : {
      ...noPermission,
      is: read.oneOf(specific, "permissionDecision", "allow", "deny", "ask", "defer"),
      why: read.text(specific, "permissionDecisionReason"),
      input: event === "PreToolUse" ? read.object(specific, "updatedInput") : undefined
    }
  // An `allow` counts only with the name of its event. Other decisions count without it.
  const isNameless = permission.is === "allow" && !Object.hasOwn(specific, "hookEventName")
  if (isNameless) problems.push(`allow does not count: hookSpecificOutput needs hookEventName ${event}`)
  const chosen = (isNameless ? undefined : permission.is) ??
    (decision === "approve" && event === "PreToolUse" ? "allow" : undefined)
  const blocks = decision === "block" && rowOf(event).blocks === true
  const informs = decision === "block" && rowOf(event).two === "model"
  if (decision === "block" && !blocks && !informs) problems.push(`decision does not count: ${event} cannot be blocked`)
  const why = permission.why ?? read.text(json, "reason")
  const denies = chosen === "deny" || blocks
  return {
    ...permission,
    blocked: denies ? cap(why || someMessage(json) || "blocked without a reason") : undefined,
    feedback: informs ? why : undefined,
    permission: chosen === "deny" ? undefined : chosen,
    permissionReason: why === undefined || denies ? undefined : cap(why)
  }
}

interface Permission {
  readonly is: "allow" | "deny" | "ask" | "defer" | undefined
  readonly why: string | undefined
  readonly input: JsonObject | undefined
  readonly interrupt: boolean | undefined
  readonly permissions: Json | undefined
}

const noPermission: Permission = {
  is: undefined,
  why: undefined,
  input: undefined,
  interrupt: undefined,
  permissions: undefined
}

const permissionOf = (decision: Fields | undefined, { flag, json, object, oneOf, text }: Reader): Permission =>
  decision === undefined ? noPermission : {
    is: oneOf(decision, "behavior", "allow", "deny"),
    why: text(decision, "message"),
    input: object(decision, "updatedInput"),
    interrupt: flag(decision, "interrupt"),
    permissions: json(decision, "updatedPermissions")
  }

/** Reads the answer to a signal of the host. */
const answerOf = (specific: Fields, event: EventName, { object, oneOf, text }: Reader): JsonObject | undefined => {
  if (event === "WorktreeCreate") {
    const worktreePath = text(specific, "worktreePath")
    return worktreePath === undefined ? undefined : { worktreePath }
  }
  if (event === "MessageDisplay") {
    const displayContent = text(specific, "displayContent")
    return displayContent === undefined ? undefined : { displayContent }
  }
  if (event !== "Elicitation" && event !== "ElicitationResult") return undefined
  const action = oneOf(specific, "action", "accept", "decline", "cancel")
  const content = object(specific, "content")
  if (action === undefined) return undefined
  return content === undefined ? { action } : { action, content }
}

/** Returns `hookSpecificOutput`, or an empty object if it is missing, invalid or names another event. */
const specificOf = (json: Fields, event: EventName, problems: Array<string>): Fields => {
  const specific = Object.hasOwn(json, "hookSpecificOutput") ? json["hookSpecificOutput"] : undefined
  if (specific === undefined || specific === null) return {}
  if (!isFields(specific)) {
    problems.push("hookSpecificOutput does not count: expected an object")
    return {}
  }
  const name = Object.hasOwn(specific, "hookEventName") ? specific["hookEventName"] : undefined
  if (name === undefined || name === event) return specific
  problems.push(`hookSpecificOutput does not count: its hookEventName is not ${event}`)
  return {}
}
