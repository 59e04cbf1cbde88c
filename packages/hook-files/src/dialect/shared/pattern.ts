/** Compiles the patterns of matchers. They are matched in linear time. */
import * as Pattern from "@belay/hooks/Pattern"
import * as Result from "effect/Result"

/**
 * A compiled pattern. `unsupported` means that it is a valid pattern in JavaScript but uses features that are not
 * supported here: backreferences, and lookaround other than a lookahead after `^`. `invalid` means that it is not a
 * valid pattern.
 */
export type Compiled = ((value: string) => boolean) | "unsupported" | "invalid"

export const compile = (pattern: string): Compiled => {
  const cached = cache.get(pattern)
  if (cached !== undefined) return cached
  const compiled = isPlain(pattern) ? later(pattern) : now(pattern)
  if (cache.size >= 256) cache.clear()
  if (pattern.length <= 256) cache.set(pattern, compiled)
  return compiled
}

/** Module state: a cache of a pure function. Many entries have the same matcher. */
const cache = new Map<string, Compiled>()

/** Whether both RE2 and JavaScript certainly accept the pattern, so that it can be compiled when it is first needed. */
const isPlain = (pattern: string): boolean =>
  /^(?:[\w .*+?|^$()\-/:,]|\\[.dwsDWSb]){1,200}$/.test(pattern) && !pattern.includes("(?") &&
  Result.isSuccess(Result.try(() => new RegExp(pattern)))

const later = (pattern: string): (value: string) => boolean => {
  let compiled: Compiled | undefined
  return (value) => {
    compiled ??= now(pattern)
    return typeof compiled !== "function" || compiled(value)
  }
}

const now = (pattern: string): Compiled => {
  const compiled = Pattern.compile([pattern], "matcher")
  if (Result.isSuccess(compiled)) return compiled.success.test
  const [ahead, rest, isNegative] = lookahead(pattern)
  if (typeof ahead === "function" && typeof rest === "function") {
    return (value) => ahead(value) !== isNegative && rest(value)
  }
  return Result.isSuccess(Result.try(() => new RegExp(pattern))) ? "unsupported" : "invalid"
}

/** The longest pattern with a lookahead, in characters. Each lookahead is compiled by itself. */
const maxLookahead = 1_024

/**
 * Compiles `^(?!A)B` as two patterns: `^(?:A)` must not match, and `^B` must. Files say in this way which tools are
 * left out, and RE2 has no lookaround.
 */
const lookahead = (pattern: string): readonly [ahead?: Compiled, rest?: Compiled, isNegative?: boolean] => {
  const [start, sign] = /^\^\(\?([!=])/.exec(pattern) ?? []
  if (start === undefined || pattern.length > maxLookahead) return []
  let [depth, end, isClass] = [0, 0, false]
  for (const { 0: part, index } of pattern.matchAll(/\\.|[()[\]|]/g)) {
    if (isClass) isClass = part !== "]"
    else if (part === "[") isClass = true
    else if (part === "(") depth += 1
    else if (part === ")" && --depth === 0 && end === 0) end = index
    // The beginning belongs to the first alternative only.
    else if (part === "|" && depth === 0) return []
  }
  const rest = pattern.slice(end + 1)
  return end === 0 || /^[*+?{]/.test(rest)
    ? []
    : [now(`^(?:${pattern.slice(start.length, end)})`), now(`^${rest}`), sign === "!"]
}
