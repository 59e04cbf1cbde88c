/** Finds output that was meant as an answer and does not count: the developer has to know about it. */
import { type Fields, isFields } from "./fields.ts"

/**
 * Fields with which scripts of any system decide. Fields that events have as well are not among them, because some
 * scripts print the event.
 */
const words = [
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
const quoted = new RegExp(`["'](?:${words.join("|")})["']\\s*:`)

/**
 * Whether a text that is not a JSON object looks like an answer: with lines before it, two answers, or a misspelled one.
 */
export const looksLikeAnswer = (text: string): boolean => text.includes("{") && quoted.test(text)

/** The warning about such a text. */
export const lost = "its output is no JSON object: no answer"

/** Fields that count, at the top of an object and in its `hookSpecificOutput`. */
export interface Counting {
  readonly top: ReadonlyArray<string>
  readonly inner: ReadonlyArray<string>
}

/** Warnings about fields that count at other events only. */
export const ignoredFields = (said: Fields, { inner, top }: Counting, where: string): ReadonlyArray<string> => {
  const specific = Object.hasOwn(said, "hookSpecificOutput") ? said["hookSpecificOutput"] : undefined
  const of = (
    part: unknown,
    counts: ReadonlyArray<string>,
    others: ReadonlyArray<string>,
    hint: (word: string) => string
  ) =>
    words.flatMap((word) =>
      isFields(part) && Object.hasOwn(part, word) && !counts.includes(word) && !isIdle(word, part[word])
        ? [`${word} does not count at ${where}${others.includes(word) ? `, ${hint(word)} does` : ""}`]
        : []
    )
  return [
    ...of(said, top, inner, (word) => `hookSpecificOutput.${word}`),
    ...of(specific, inner, top, (word) => `${word} beside hookSpecificOutput`)
  ]
}

/** Whether a value changes nothing at any event. */
const isIdle = (word: string, value: unknown): boolean =>
  word === "continue"
    ? value !== false
    : value === "allow" || value === "approve" || value === false || value === null || value === ""
