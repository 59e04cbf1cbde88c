/** Decodes the JSON of an answer of a Gemini CLI hook. */
import { defined } from "@belay/core/Fields"
import { cap, type Fields, isText, type Reader, reader } from "../../internal/fields.ts"
import { type Answer, modes, type Specific } from "./answer.ts"

export interface Decoded extends Omit<Answer, "outcome" | "isRead" | "problem"> {
  readonly reason?: string
}

/** The reason of an entry that gives none. */
export const noReason = "No reason provided"

export const decodeFields = (json: Fields): Decoded => {
  const read = reader()
  const { fields, flag, oneOf, text } = read
  const decision = oneOf(json, "decision", "allow", "approve", "deny", "block", "ask")
  const stops = flag(json, "continue") === false
  const [reason, stopReason, message] = [text(json, "reason"), text(json, "stopReason"), text(json, "systemMessage")]
  const why = cap(reason || stopReason || message || noReason)
  const specific = specificOf(fields(json, "hookSpecificOutput") ?? {}, read)
  const isSuppressed = flag(json, "suppressOutput") === true
  return {
    ...defined({
      reason,
      denied: decision === "deny" || decision === "block" ? why : undefined,
      asked: decision === "ask" ? why : undefined,
      stopped: stops ? cap(stopReason || reason || message || noReason) : undefined
    }),
    messages: message === undefined || message === "" || isSuppressed ? [] : [cap(message)],
    specific,
    problems: read.problems
  }
}

const specificOf = (specific: Fields, { fields, flag, object, oneOf, problems, text }: Reader): Specific => {
  const config = fields(specific, "toolConfig")
  const tail = fields(specific, "tailToolCallRequest")
  const name = tail === undefined ? undefined : text(tail, "name")
  const context = text(specific, "additionalContext")
  const [toolInput, toolOutput] = [object(specific, "tool_input"), text(specific, "tool_output")]
  const [request, response] = [object(specific, "llm_request"), object(specific, "llm_response")]
  const mode = config === undefined ? undefined : oneOf(config, "mode", ...modes)
  const allowed = config?.["allowedFunctionNames"]
  const isList = Array.isArray(allowed) && allowed.every(isText)
  if (allowed !== undefined && !isList) problems.push("allowedFunctionNames does not count: expected a list of texts")
  return defined({
    context: context === undefined || context.trim() === "" ? undefined : context,
    toolInput,
    toolOutput,
    tail: tail === undefined || name === undefined ? undefined : { name, args: object(tail, "args") ?? {} },
    request,
    response,
    mode,
    allowed: isList ? allowed : undefined,
    clear: flag(specific, "clearContext") === true ? true : undefined
  })
}
