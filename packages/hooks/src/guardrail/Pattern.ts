/**
 * Patterns that texts are searched for. Strings are RE2 patterns and take linear time, whatever is searched.
 *
 * @since 0.1.0
 */
import { ConfigError } from "@belay/core/AgentError"
import * as Result from "effect/Result"
import { RE2JS } from "re2js"

/**
 * What to look for: an RE2 pattern (`(?i)` ignores case; no lookaround, no backreferences), a RegExp or function of
 * your own.
 *
 * @category models
 * @since 0.1.0
 */
export type Pattern = string | RegExp | ((text: string) => boolean)

/** Compiled patterns. @category models @since 0.1.0 */
export interface Patterns {
  /** Whether any of them is found in the text. */
  readonly test: (text: string) => boolean
  /**
   * The text with everything that was found replaced, literally. In an `open` text, which goes on, what reaches its end
   * stays.
   */
  readonly redact: (text: string, replacement: string, end?: "open") => string
}

/**
 * Compiles patterns, or says which one is wrong and why. `key` names the option they come from.
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
export const compile = (patterns: ReadonlyArray<Pattern>, key: string): Result.Result<Patterns, ConfigError> =>
  Result.map(Result.all(patterns.map((pattern, index) => one(pattern, `${key}[${index}]`))), (all) => ({
    test: (text) => all.some((pattern) => pattern.test(text)),
    redact: (text, replacement, end) => all.reduce((rest, pattern) => pattern.redact(rest, replacement, end), text)
  }))

const one = (pattern: Pattern, key: string): Result.Result<Patterns, ConfigError> => {
  if (typeof pattern === "function") return Result.succeed({ test: pattern, redact: (text) => text })
  if (typeof pattern !== "string") return Result.succeed(ofRegExp(pattern))
  return Result.try({
    try: () => ofString(pattern),
    catch: (error) =>
      new ConfigError({
        key,
        message: `${key}: ${JSON.stringify(pattern)} is no RE2 pattern (${
          error instanceof Error ? error.message : String(error)
        }). ${advice}`
      })
  })
}

const advice = "Lookaround and backreferences are not linear: pass a RegExp or a function if you trust its running time"

const ofString = (pattern: string): Patterns => {
  const compiled = RE2JS.compile(pattern)
  return {
    test: (text) => compiled.test(text),
    redact: (text, replacement, end) => compiled.matcher(text).replaceAll(replacer(text, replacement, end))
  }
}

/** `search` neither reads nor moves `lastIndex`, so that a global pattern finds the same thing every time. */
const ofRegExp = (pattern: RegExp): Patterns => {
  const everywhere = pattern.global ? pattern : new RegExp(pattern, `${pattern.flags}g`)
  return {
    test: (text) => text.search(pattern) >= 0,
    redact: (text, replacement, end) => text.replace(everywhere, replacer(text, replacement, end))
  }
}

/** Both engines call with the match, its groups (no numbers) and its offset. */
const replacer =
  (text: string, replacement: string, end: "open" | undefined) =>
  (match: string, ...rest: ReadonlyArray<unknown>): string =>
    end === "open" && Number(rest.find((part) => typeof part === "number")) + match.length === text.length
      ? match
      : replacement
