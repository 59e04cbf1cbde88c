/** RE2 patterns: they take linear time, whatever text they search. */
import type { ConfigError } from "@belay/core/AgentError"
import { invalidOption } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import { RE2JS } from "re2js"

/** Compiles a pattern. Fails with a `ConfigError` that names the option `key`. */
export const compileRe2 = (pattern: string, key: string, advice = ""): Result.Result<RE2JS, ConfigError> => {
  if (typeof pattern !== "string") return invalidOption(key, `expected an RE2 pattern, found a ${typeof pattern}`)
  const compiled = Result.try(() => RE2JS.compile(pattern))
  if (Result.isSuccess(compiled)) return Result.succeed(compiled.success)
  const { failure: error } = compiled
  const problem = error instanceof Error ? error.message : String(error)
  return invalidOption(key, `expected an RE2 pattern, found ${JSON.stringify(pattern)} (${problem})${advice}`)
}
