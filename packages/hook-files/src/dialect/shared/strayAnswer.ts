/** Finds output that was meant as an answer and does not count: the developer has to know about it. */
import { type Fields, isFields } from "./fields.ts"

/**
 * What scripts of any system decide with. Words that events have too are not among them: some scripts print what they
 * are told.
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
 * Whether a text that is no JSON object has the looks of an answer in it: lines before it, two of them, or one that is
 * spelt wrong.
 */
export const isMeant = (text: string): boolean => text.includes("{") && quoted.test(text)

/** What the developer reads of such a text. */
export const lost = "its output is no JSON object: no answer"

/** Words that count, at the top of an object and in its `hookSpecificOutput`. */
export interface Counting {
  readonly top: ReadonlyArray<string>
  readonly inner: ReadonlyArray<string>
}

/** What the developer reads of words that would mean something elsewhere. */
export const unheard = (said: Fields, { inner, top }: Counting, where: string): ReadonlyArray<string> => {
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

/** What changes nothing wherever it is said. */
const isIdle = (word: string, value: unknown): boolean =>
  word === "continue"
    ? value !== false
    : value === "allow" || value === "approve" || value === false || value === null || value === ""
