/**
 * Patterns to search texts with. Strings are RE2 patterns: they take linear time, whatever text they search.
 *
 * @since 0.1.0
 */
import type { ConfigError } from "@belay/core/AgentError"
import { checked } from "@belay/core/ArgumentCheck"
import { invalidOption } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import type { RE2JS } from "re2js"
import { compileRe2 } from "./internal/re2.ts"

/**
 * A pattern: a text with an RE2 pattern (`(?i)` ignores case; no lookaround, no backreferences), a RegExp, or a
 * function.
 *
 * @category models
 * @since 0.1.0
 */
export type Pattern = string | RegExp | ((text: string) => boolean)

/** Compiled patterns. @category models @since 0.1.0 */
export interface Patterns {
  /** Whether one of the patterns matches a part of the text. */
  readonly test: (text: string) => boolean
  /**
   * Replaces every match by a literal text. In an `open` text, which will continue, a match at its end stays.
   */
  readonly redact: (text: string, replacement: string, end?: "open") => string
}

/**
 * Compiles patterns. Fails with a `ConfigError` for the first pattern that is not valid; `key` is the name of the
 * option.
 *
 * @example
 * ```ts
 * import * as Pattern from "@belay/hooks/Pattern"
 * import * as Result from "effect/Result"
 *
 * const patterns = Result.getOrThrow(Pattern.compile(["(?i)api[_-]?key", /\bsecret\b/], "my-hook.patterns"))
 * patterns.test("my API_KEY") // true
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const compile = checked(
  "Pattern.compile",
  ["patterns", "key"],
  (patterns: ReadonlyArray<Pattern>, key: string): Result.Result<Patterns, ConfigError> =>
    Result.map(Result.all(patterns.map((pattern, index) => compileOne(pattern, `${key}[${index}]`))), (all) => ({
      test: (text) => all.some((pattern) => pattern.test(text)),
      redact: (text, replacement, end) => all.reduce((rest, pattern) => pattern.redact(rest, replacement, end), text)
    }))
)

const compileOne = (pattern: Pattern, key: string): Result.Result<Patterns, ConfigError> => {
  if (typeof pattern === "function") return Result.succeed({ test: pattern, redact: (text) => text })
  if (pattern instanceof RegExp) return Result.succeed(fromRegExp(pattern))
  if (typeof pattern !== "string") return invalidOption(key, "expected an RE2 pattern, a RegExp or a function")
  return Result.map(compileRe2(pattern, key, advice), fromRe2)
}

const advice =
  ". Lookaround and backreferences are not linear: pass a RegExp or a function if you trust its running time"

const fromRe2 = (pattern: RE2JS): Patterns => ({
  test: (text) => pattern.test(text),
  redact: (text, replacement, end) => pattern.matcher(text).replaceAll(replacer(text, replacement, end))
})

/** `search` does not use `lastIndex`, so a global pattern always finds the same. */
const fromRegExp = (pattern: RegExp): Patterns => {
  const everywhere = pattern.global ? pattern : new RegExp(pattern, `${pattern.flags}g`)
  return {
    test: (text) => text.search(pattern) >= 0,
    redact: (text, replacement, end) => text.replace(everywhere, replacer(text, replacement, end))
  }
}

/** Both engines call it with the match, its groups, which are texts, and its offset. */
const replacer =
  (text: string, replacement: string, end: "open" | undefined) =>
  (match: string, ...rest: ReadonlyArray<unknown>): string =>
    end === "open" && Number(rest.find((part) => typeof part === "number")) + match.length === text.length
      ? match
      : replacement
