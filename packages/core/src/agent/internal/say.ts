/** The words of an error. */
import * as Result from "effect/Result"

/** What the model and the log read of an error: its message, never its stack. */
export const say = (error: unknown): string =>
  Result.getOrElse(
    Result.try(() =>
      error instanceof Error
        ? error.message || error.name
        : typeof error === "string"
        ? error
        : JSON.stringify(error) ?? String(error)
    ),
    () => "an error that cannot be described"
  )

/** One line of a log: what came from a model, a tool or a process moves no cursor and forges no line. */
export const asLine = (text: string): string =>
  text.replaceAll(/[\n\r\t\u2028\u2029]+/g, " ").replaceAll(/[\p{Cc}\p{Cf}]/gu, "?").toWellFormed()
