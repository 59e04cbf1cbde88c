/** Reads answers of systems in which only exit code 0 is a success and standard output is one JSON object. */
import { whyNot } from "@belay/core/Json"
import * as Result from "effect/Result"
import type * as Dialect from "../../engine/Dialect.ts"
import { type Fields, isFields } from "../../internal/fields.ts"
import type { Finished } from "../../process/Command.ts"

/** Returns the output of an entry that succeeded. Fails with a description of how it ended otherwise. */
export const outputOf = (
  { exitCode, overflowed, stderr, stdout, timedOut }: Finished
): Result.Result<string, string> => {
  if (timedOut) return Result.fail("took too long and was ended")
  if (overflowed) return Result.fail("wrote too much output and was ended")
  if (exitCode === 0) return Result.succeed(stdout)
  const line = stderr.trim().split("\n", 1)[0]!.slice(0, 1_000).toWellFormed()
  const how = exitCode === undefined ? "was killed" : `ended with ${exitCode}`
  return Result.fail(line === "" ? how : `${how}: ${line}`)
}

/**
 * Parses a JSON object and drops `__proto__` keys. Returns undefined if the text is empty. Fails with a message if it
 * is not a JSON object.
 */
export const objectOf = (stdout: string): Result.Result<Fields | undefined, string> => {
  const text = stdout.trim()
  if (text === "") return Result.succeed(undefined)
  const parsed = Result.try((): unknown =>
    JSON.parse(text, (key, value: unknown) => key === "__proto__" ? undefined : value)
  )
  if (Result.isFailure(parsed)) return Result.fail("wrote output that is not JSON")
  const why = whyNot(parsed.success)
  if (why !== undefined) return Result.fail(`wrote JSON that cannot be used: ${why.slice(0, 200)}`)
  return isFields(parsed.success) ? Result.succeed(parsed.success) : Result.fail("wrote JSON that is not an object")
}

/** Returns the outcome of an entry, depending on whether its output could be read. */
export const outcomeOf = (read: Result.Result<unknown, string>, { timedOut }: Finished): Dialect.Answer["outcome"] =>
  Result.isSuccess(read) ? "success" : timedOut ? "cancelled" : "nonBlockingError"
