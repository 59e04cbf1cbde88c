/**
 * Detectors find values in texts. Their time grows linearly with the length of the text: every repetition in a pattern
 * is bounded, or begins where the last one ended.
 */
import type { ConfigError } from "@belay/core/AgentError"
import { checkOptions, invalidOption, whole } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import type { RE2JS } from "re2js"
import { compileRe2 } from "./re2.ts"

/** A range of a text, from `start` up to, not including, `end`. @category models @since 0.1.0 */
export interface Range {
  readonly start: number
  readonly end: number
}

/** Finds values of one kind. */
export interface Detector {
  readonly kind: string
  readonly find: (text: string) => ReadonlyArray<Range>
  /** A text without it contains no value. Absent when every text may contain one. */
  readonly needs?: string | RegExp
  /** The longest beginning of a value, in characters, that cannot be distinguished from other text yet. */
  readonly reach: number
  /** A sticky pattern for the rest of a value that was cut. Absent when the rest cannot be recognized. */
  readonly more?: RegExp
  /** How values of this kind end. Absent when a value ends at the first character that `more` does not match. */
  readonly ending?: Ending
  /** The detector comes from the options of a hook. */
  readonly isCustom?: true
}

/** Characters that end a value. */
export interface Ending {
  /** Matches a text that ends with them, if they belong to the value. */
  readonly whole?: RegExp
  /** Matches a text that may be the beginning of them. */
  readonly begun: RegExp
}

/** A value that was found. */
export interface Finding extends Range {
  readonly kind: string
}

/**
 * Returns everything that the detectors find, and the `known` findings, in order. A detector does not see what the
 * detectors before it found, nor the `ignored` ranges; only custom detectors see the whole text. Findings that overlap
 * become one, of the kind that is first in the list.
 */
export const findAll = (
  detectors: ReadonlyArray<Detector>,
  text: string,
  known: ReadonlyArray<Finding> = [],
  ignored: ReadonlyArray<Range> = []
): ReadonlyArray<Finding> => {
  const all: Array<Finding & { readonly rank: number }> = known.map((found) => ({ ...found, rank: -1 }))
  let left = mask(text, [...known, ...ignored])
  for (const [rank, { find, isCustom, kind }] of detectors.entries()) {
    const ranges = find(isCustom === true ? text : left)
    if (ranges.length === 0) continue
    for (const { end, start } of ranges) all.push({ kind, start, end, rank })
    left = mask(left, ranges)
  }
  if (all.length < 2) return all
  all.sort((a, b) => a.start - b.start || a.rank - b.rank)
  const merged: Array<Finding & { readonly rank: number }> = []
  for (const found of all) {
    const last = merged.at(-1)
    if (last === undefined || found.start >= last.end) merged.push(found)
    else {
      const first = found.rank < last.rank ? found : last
      merged[merged.length - 1] = { ...first, start: last.start, end: Math.max(last.end, found.end) }
    }
  }
  return merged
}

/** Replaces ranges by line separators, which no value contains. */
const mask = (text: string, ranges: ReadonlyArray<Range>): string => {
  if (ranges.length === 0) return text
  let made = ""
  let at = 0
  for (const { end, start } of [...ranges].sort((a, b) => a.start - b.start)) {
    if (end <= at) continue
    made += text.slice(at, Math.max(at, start)) + "\u2028".repeat(end - Math.max(at, start))
    at = end
  }
  return made + text.slice(at)
}

/** Returns how many characters of a candidate are the value; 0 when the candidate is not one. */
export type Accept = (candidate: string) => number

/**
 * Makes a detector from a global pattern whose repetitions are bounded. When `accept` refuses a candidate, the search
 * continues at its next character. With `grows`, an accepted value continues as far as `more` matches.
 */
export const patternDetector = (
  kind: string,
  pattern: RegExp,
  options: {
    readonly reach: number
    /** A quick test: a text without it contains no value. */
    readonly needs?: string | RegExp
    readonly accept?: Accept
    readonly more?: RegExp
    readonly ending?: Ending
    readonly grows?: boolean
  }
): Detector => {
  const { accept, ending, grows = false, more, needs, reach } = options
  const find = (text: string): ReadonlyArray<Range> => {
    if (needs !== undefined && !(typeof needs === "string" ? text.includes(needs) : needs.test(text))) return []
    const found: Array<Range> = []
    pattern.lastIndex = 0
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      const accepted = accept === undefined ? match[0].length : accept(match[0])
      const length = accepted > 0 && grows ? accepted + restLength(text, match.index + accepted, more) : accepted
      if (length > 0) found.push({ start: match.index, end: match.index + length })
      pattern.lastIndex = match.index + Math.max(1, length)
    }
    return found
  }
  return {
    kind,
    find,
    reach,
    ...(more === undefined ? {} : { more }),
    ...(ending === undefined ? {} : { ending }),
    ...(needs === undefined ? {} : { needs })
  }
}

/**
 * One pattern for what all detectors need, and for more literals. Returns nothing if a detector may find something in
 * every text.
 */
export const quickTest = (
  detectors: ReadonlyArray<Detector>,
  literals: ReadonlyArray<string> = []
): RegExp | undefined => {
  const all = literals.map(escapeLiteral)
  for (const { needs } of detectors) {
    if (needs === undefined) return undefined
    all.push(typeof needs === "string" ? escapeLiteral(needs) : needs.source)
  }
  // A pattern that ignores letter case finds at least as much.
  return new RegExp(all.join("|"), "iu")
}

const escapeLiteral = (literal: string): string => literal.replaceAll(/[$()*+.?[\\\]^{|}/]/g, "\\$&")

const restLength = (text: string, at: number, more: RegExp | undefined): number => {
  if (more === undefined) return 0
  more.lastIndex = at
  return more.exec(text)?.[0].length ?? 0
}

/** A detector in the options of a hook. */
export interface CustomDetector {
  /** The name of the values: lower-case letters, digits and `-`. */
  readonly kind: string
  /** An RE2 pattern, which takes linear time, or a function that returns the ranges of the values. */
  readonly find: string | ((text: string) => Iterable<Range>)
  /** Only values for which this returns `true` count. Default: all values. */
  readonly validate?: (value: string) => boolean
  /** The longest value, in characters. So much of a streamed answer is buffered. Default 128. */
  readonly maxLength?: number
}

/** Compiles a custom detector. Fails with a `ConfigError` that names the option `key`. */
export const compileDetector = (
  { find, kind, maxLength = 128, validate }: CustomDetector,
  key: string
): Result.Result<Detector, ConfigError> => {
  const checked = checkOptions(
    key,
    ["kind", kind, (name: string) => /^[a-z][a-z0-9-]{0,39}$/.test(name), "lower-case letters, digits and \"-\""],
    whole("maxLength", maxLength, 1)
  )
  if (Result.isFailure(checked)) return Result.fail(checked.failure)
  // The error of a custom function could quote the text that it was called with, so it is replaced.
  const withoutDetails = <A>(f: () => A): A =>
    Result.getOrThrowWith(Result.try(f), () => new Error(`the detector of ${kind} failed`))
  const isValid = (text: string, { end, start }: Range) =>
    validate === undefined || withoutDetails(() => validate(text.slice(start, end)) === true)
  const detector = (ranges: (text: string) => ReadonlyArray<Range>): Detector => ({
    kind,
    isCustom: true,
    reach: maxLength,
    find: (text) => ranges(text).filter((range) => isValid(text, range))
  })
  if (typeof find === "function") {
    return Result.succeed(
      detector((text) => withoutDetails(() => Array.from(find(text), (range) => validRange(range, text))))
    )
  }
  return Result.map(compileRe2(find, `${key}.find`), (pattern) => detector((text) => matches(pattern, text)))
}

/**
 * Compiles custom detectors. Fails with a `ConfigError` that names the option `key`, also for a kind that is among the
 * `reserved` ones.
 */
export const compileDetectors = (
  detectors: ReadonlyArray<CustomDetector>,
  key: string,
  reserved: ReadonlyArray<string>
): Result.Result<ReadonlyArray<Detector>, ConfigError> =>
  Result.all(detectors.map((detector, index) => {
    const path = `${key}[${index}]`
    // In JavaScript it can be missing. Patterns without a name have no kind.
    if ((detector.kind as string | undefined) === undefined) {
      return invalidOption(`${path}.kind`, "a name for what it finds is missing")
    }
    return reserved.includes(detector.kind)
      ? invalidOption(path, `the kind "${detector.kind}" exists already; choose another name`)
      : compileDetector(detector, path)
  }))

/** The ranges that an RE2 pattern matches. */
const matches = (pattern: RE2JS, text: string): ReadonlyArray<Range> => {
  const found: Array<Range> = []
  const matcher = pattern.matcher(text)
  while (matcher.find()) if (matcher.end() > matcher.start()) found.push({ start: matcher.start(), end: matcher.end() })
  return found
}

const validRange = (range: Range, text: string): Range => {
  const { end, start } = range
  const isInside = Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start < end && end <= text.length
  return Result.getOrThrow(
    isInside ? Result.succeed({ start, end }) : Result.fail(new Error("the range is not inside of the text"))
  )
}
