/** The words of an error. */
import * as Result from "effect/Result"

/** What the model and the log read of an error: its message, never its stack. */
export const say = (error: unknown): string =>
  Result.getOrElse(
    Result.try(() =>
      error instanceof Error ? error.message || error.name : typeof error === "string" ? error : JSON.stringify(error) ?? String(error)
    ),
    () => "an error that cannot be described"
  )
