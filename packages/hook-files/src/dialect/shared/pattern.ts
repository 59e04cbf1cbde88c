/** Patterns of matchers, which are searched for in linear time. */
import * as Pattern from "@belay/hooks/Pattern"
import * as Result from "effect/Result"

/**
 * A compiled pattern. `unsupported` is a pattern of JavaScript that RE2 cannot read (lookaround, backreferences);
 * `invalid` is not a pattern at all.
 */
export type Compiled = ((value: string) => boolean) | "unsupported" | "invalid"

export const compile = (pattern: string): Compiled => {
  const compiled = Pattern.compile([pattern], "matcher")
  if (Result.isSuccess(compiled)) return compiled.success.test
  return Result.isSuccess(Result.try(() => new RegExp(pattern))) ? "unsupported" : "invalid"
}
