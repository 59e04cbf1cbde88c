/**
 * Turns any error into text.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Result from "effect/Result"

/**
 * Returns the message of an error, for the model and the log; never a stack. A value that is not an `Error` is rendered
 * as text or JSON. Never throws, even if a getter of the error throws.
 *
 * @example
 * ```ts
 * import { messageOf } from "@belay/core/ErrorMessage"
 *
 * messageOf(new Error("disk full")) // "disk full"
 * messageOf({ code: 7 }) // `{"code":7}`
 * ```
 * @category operations
 * @since 0.1.0
 */
export const messageOf = (error: unknown): string =>
  Result.getOrElse(Result.try(() => textOf(error)), () => "an error that cannot be described")

const textOf = (error: unknown): string => {
  if (Cause.isCause(error)) return messageOf(Cause.squash(error))
  if (error instanceof Error) return String(error.message || error.name)
  return typeof error === "string" ? error : JSON.stringify(error) ?? String(error)
}

/**
 * Makes an untrusted text safe for one line of a log. Line breaks become spaces and control characters become question
 * marks, so that the text cannot move the cursor or forge another line. Use it for texts from a model, a tool or a
 * process.
 *
 * @category operations
 * @since 0.1.0
 */
export const oneLine = (text: string): string =>
  text.replaceAll(/[\n\r\t\u2028\u2029]+/g, " ").replaceAll(/[\p{Cc}\p{Cf}]/gu, "?").toWellFormed()
