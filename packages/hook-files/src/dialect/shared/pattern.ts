/** Compiles the patterns of matchers. They are matched in linear time. */
import * as Pattern from "@belay/hooks/Pattern"
import * as Result from "effect/Result"

/**
 * A compiled pattern. `unsupported` means that it is a valid pattern in JavaScript but uses features that RE2 does not
 * have (lookaround, backreferences). `invalid` means that it is not a valid pattern.
 */
export type Compiled = ((value: string) => boolean) | "unsupported" | "invalid"

export const compile = (pattern: string): Compiled => {
  const compiled = Pattern.compile([pattern], "matcher")
  if (Result.isSuccess(compiled)) return compiled.success.test
  return Result.isSuccess(Result.try(() => new RegExp(pattern))) ? "unsupported" : "invalid"
}
