/** Finds output that looks like an answer but is not used as one, so that the developer can be warned. */
import { type Fields, isFields } from "../../internal/fields.ts"

/**
 * The fields with which scripts of any system answer. Fields that are also part of events are not in the list, because
 * some scripts print the event.
 */
const answerFields = [
  "additionalContext",
  "behavior",
  "blocked",
  "continue",
  "decision",
  "errorHandling",
  "follow_up_messages",
  "modifiedArgs",
  "modifiedInput",
  "modifiedOutput",
  "modifiedPrompt",
  "modifiedResponse",
  "modifiedResult",
  "modifiedTransformedPrompt",
  "permissionDecision",
  "systemMessage",
  "tailToolCallRequest",
  "updatedInput"
]
const quoted = new RegExp(`["'](?:${answerFields.join("|")})["']\\s*:`)

/**
 * Whether a text that is not a JSON object looks like an answer: for example an answer with other lines before it, two
 * answers, or an answer with a syntax error.
 */
export const looksLikeAnswer = (text: string): boolean => text.includes("{") && quoted.test(text)

/** The warning about a text for which `looksLikeAnswer` is true. */
export const lostAnswerWarning = "its output is not a JSON object, so it is not read as an answer"

/** The fields of an answer that are used, at its top level and in its `hookSpecificOutput`. */
export interface UsedFields {
  readonly top: ReadonlyArray<string>
  readonly inner: ReadonlyArray<string>
}

/** Returns a warning for each field of an answer that is used only at other events. */
export const ignoredFields = (said: Fields, { inner, top }: UsedFields, where: string): ReadonlyArray<string> => {
  const specific = Object.hasOwn(said, "hookSpecificOutput") ? said["hookSpecificOutput"] : undefined
  const of = (
    part: unknown,
    counts: ReadonlyArray<string>,
    others: ReadonlyArray<string>,
    hint: (field: string) => string
  ) =>
    answerFields.flatMap((field) =>
      isFields(part) && Object.hasOwn(part, field) && !counts.includes(field) && !isIdle(field, part[field])
        ? [`${field} does not count at ${where}${others.includes(field) ? `, ${hint(field)} does` : ""}`]
        : []
    )
  return [
    ...of(said, top, inner, (field) => `hookSpecificOutput.${field}`),
    ...of(specific, inner, top, (field) => `${field} beside hookSpecificOutput`)
  ]
}

/** Whether a field with this value has no effect at any event. */
const isIdle = (field: string, value: unknown): boolean =>
  field === "continue"
    ? value !== false
    : value === "allow" || value === "approve" || value === false || value === null || value === ""
