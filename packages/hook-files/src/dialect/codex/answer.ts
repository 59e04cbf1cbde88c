/**
 * Reads answers as strictly as Codex does. An answer with one invalid part is an error as a whole, and does not block.
 */
import { type Fields, isFields, record } from "../../internal/fields.ts"
import type { Finished } from "../../process/Command.ts"
import { type Answer, silent } from "../claude/answer/answer.ts"
import { read } from "../claude/answer/readAnswer.ts"
import type { EventName } from "../claude/event/events.ts"

export const readStrictly = (finished: Finished, event: EventName): Answer => {
  const { exitCode, overflowed, stderr, stdout, timedOut } = finished
  if (timedOut || (overflowed && exitCode !== 2) || exitCode === undefined) return read(finished, event)
  if (exitCode === 2) {
    return stderr.trim() === ""
      ? failure("ended with 2 and gave no reason on standard error")
      : read({ ...finished, stdout: "" }, event)
  }
  if (exitCode !== 0) return read({ ...finished, stdout: "" }, event)
  const text = stdout.trim()
  if (!text.startsWith("{")) return read(finished, event)
  const json = record(text)
  const why = json === undefined ? "is not JSON" : whyNot(json, event)
  return why === undefined ? read(finished, event) : failure(`gave an answer that does not count: ${why}`)
}

const failure = (reason: string): Answer => ({ ...silent, outcome: "nonBlockingError", problem: reason })

const universal = ["continue", "stopReason", "suppressOutput", "systemMessage"]
const blocking = ["decision", "reason"]
const specific: { readonly [E in EventName]?: ReadonlyArray<string> } = {
  SessionStart: ["additionalContext"],
  SubagentStart: ["additionalContext"],
  UserPromptSubmit: ["additionalContext"],
  PreToolUse: ["permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"],
  PermissionRequest: ["decision"],
  PostToolUse: ["additionalContext", "updatedMCPToolOutput"]
}
const blockable: ReadonlyArray<EventName> = [
  "UserPromptSubmit",
  "PreToolUse",
  "PostToolUse",
  "Stop",
  "SubagentStop",
  "PreCompact"
]

/** Returns the reason why Codex ignores an answer, or undefined if it accepts it. */
const whyNot = (json: Fields, event: EventName): string | undefined => {
  const known = [...universal, ...(blockable.includes(event) ? blocking : []), "hookSpecificOutput"]
  const strange = Object.keys(json).find((key) => !known.includes(key))
  if (strange !== undefined) return `unknown key ${JSON.stringify(strange.slice(0, 80))}`
  const { decision, hookSpecificOutput: inner, reason } = json
  if (inner !== undefined && inner !== null) {
    if (!isFields(inner)) return "hookSpecificOutput is not an object"
    if (inner["hookEventName"] !== event) return `hookEventName is not ${event}`
    const odd = Object.keys(inner).find((key) => key !== "hookEventName" && !(specific[event] ?? []).includes(key))
    if (odd !== undefined) return `unknown key hookSpecificOutput.${odd.slice(0, 80)}`
  }
  const wrong = wrongType(json)
  if (wrong !== undefined) return wrong
  if (decision !== undefined && decision !== null && decision !== "block") {
    return `decision ${JSON.stringify(decision)} is not supported`
  }
  if (decision === "block" && isEmpty(reason)) return "decision block needs a reason"
  const own = isFields(inner) ? inner : {}
  return event === "PreToolUse"
    ? whyNotBefore(json, own)
    : event === "PermissionRequest"
    ? whyNotPermission(json, own["decision"])
    : undefined
}

const wrongType = (json: Fields): string | undefined => {
  const texts = ["stopReason", "systemMessage", "reason"].find((key) =>
    !isAbsent(json[key]) && typeof json[key] !== "string"
  )
  if (texts !== undefined) return `${texts} is not a string`
  const flags = ["continue", "suppressOutput"].find((key) => !isAbsent(json[key]) && typeof json[key] !== "boolean")
  return flags === undefined ? undefined : `${flags} is neither true nor false`
}

const whyNotBefore = (json: Fields, inner: Fields): string | undefined => {
  if (json["continue"] === false) return "continue: false is not supported at PreToolUse"
  if (!isAbsent(json["stopReason"])) return "stopReason is not supported at PreToolUse"
  if (json["suppressOutput"] === true) return "suppressOutput is not supported at PreToolUse"
  const { permissionDecision: decision, permissionDecisionReason: reason, updatedInput: input } = inner
  if (isAbsent(decision)) return isAbsent(input) ? undefined : "updatedInput needs permissionDecision allow"
  if (decision === "deny") {
    if (!isAbsent(input)) return "updatedInput needs permissionDecision allow"
    return isEmpty(reason) ? "permissionDecision deny needs a reason" : undefined
  }
  if (decision !== "allow") return `permissionDecision ${JSON.stringify(decision)?.slice(0, 80)} is not supported`
  return isFields(input) ? undefined : "permissionDecision allow needs updatedInput"
}

/** Codex reserves some fields for later. An answer with such a field must not allow a call. */
const whyNotPermission = (json: Fields, decision: unknown): string | undefined => {
  if (json["continue"] === false) return "continue: false is not supported at PermissionRequest"
  if (!isAbsent(json["stopReason"])) return "stopReason is not supported at PermissionRequest"
  if (json["suppressOutput"] === true) return "suppressOutput is not supported at PermissionRequest"
  if (isAbsent(decision)) return undefined
  if (!isFields(decision)) return "decision is not an object"
  const odd = Object.keys(decision).find((key) =>
    !["behavior", "message", "interrupt", "updatedInput", "updatedPermissions"].includes(key)
  )
  if (odd !== undefined) return `unknown key decision.${odd.slice(0, 80)}`
  const reserved = ["updatedInput", "updatedPermissions"].find((key) => !isAbsent(decision[key]))
  if (reserved !== undefined) return `${reserved} is not supported at PermissionRequest`
  return decision["interrupt"] === true ? "interrupt: true is not supported at PermissionRequest" : undefined
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null
const isEmpty = (value: unknown): boolean => typeof value !== "string" || value.trim() === ""
