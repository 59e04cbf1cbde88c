/**
 * Finds values in texts. The time it takes grows with the length of the text alone: what is repeated is bounded, or
 * starts where the last ended.
 */
import { ConfigError } from "@belay/core/AgentError"
import * as Result from "effect/Result"
import { RE2JS } from "re2js"

/** A piece of a text: from `start` up to, not including, `end`. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** Something that is looked for. */
export interface Detector {
  readonly kind: string
  readonly find: (text: string) => ReadonlyArray<Range>
  /** Longest beginning, in characters, that cannot be told yet from other text. */
  readonly reach: number
  /** Sticky: what a value that was cut goes on with. Absent where that cannot be told. */
  readonly more?: RegExp
  /** It is a user's own. */
  readonly own?: true
}

/** What was found. */
export interface Found extends Range {
  readonly kind: string
}

/**
 * Everything that is found, in order. What one detector has found, the next ones do not see, so that they take no part
 * of it for the beginning of
 * something else; nor do they see what is `kept`. Only users' own see the whole text; ranges that overlap become one,
 * of the kind that comes first in the list.
 */
export const findAll = (
  detectors: ReadonlyArray<Detector>,
  text: string,
  more: ReadonlyArray<Found>,
  kept: ReadonlyArray<Range>
): ReadonlyArray<Found> => {
  const all: Array<Found & { readonly rank: number }> = more.map((found) => ({ ...found, rank: -1 }))
  let left = masked(text, [...more, ...kept])
  for (const [rank, { find, kind, own }] of detectors.entries()) {
    const ranges = find(own === true ? text : left)
    if (ranges.length === 0) continue
    for (const { end, start } of ranges) all.push({ kind, start, end, rank })
    left = masked(left, ranges)
  }
  if (all.length < 2) return all
  all.sort((a, b) => a.start - b.start || a.rank - b.rank)
  const merged: Array<Found & { readonly rank: number }> = []
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

/** The text with line separators, which no value has in it, in place of these ranges. */
const masked = (text: string, ranges: ReadonlyArray<Range>): string => {
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

/** Finds a value where it has to start, and says how many of its characters count: 0 for none. */
export type Accept = (candidate: string) => number

/**
 * A detector of a global pattern whose repetitions are bounded. What is refused is looked at again from the next
 * character; what is accepted
 * and `grows` goes on as far as `more` does.
 */
export const ofPattern = (
  kind: string,
  pattern: RegExp,
  options: {
    readonly reach: number
    readonly needs?: string | RegExp
    readonly accept?: Accept
    readonly more?: RegExp
    readonly grows?: boolean
  }
): Detector => {
  const { accept, grows = false, more, needs, reach } = options
  const find = (text: string): ReadonlyArray<Range> => {
    if (needs !== undefined && !(typeof needs === "string" ? text.includes(needs) : needs.test(text))) return []
    const found: Array<Range> = []
    const search = new RegExp(pattern)
    for (let match = search.exec(text); match !== null; match = search.exec(text)) {
      const known = accept === undefined ? match[0].length : accept(match[0])
      const length = known > 0 && grows ? known + rest(text, match.index + known, more) : known
      if (length > 0) found.push({ start: match.index, end: match.index + length })
      search.lastIndex = match.index + Math.max(1, length)
    }
    return found
  }
  return more === undefined ? { kind, find, reach } : { kind, find, reach, more }
}

const rest = (text: string, at: number, more: RegExp | undefined): number => {
  if (more === undefined) return 0
  const search = new RegExp(more)
  search.lastIndex = at
  return search.exec(text)?.[0].length ?? 0
}

/** How a user of the hooks says what to look for. */
export interface Custom {
  /** Lower-case letters, digits and `-`: the name of what is found. */
  readonly kind: string
  /** An RE2 pattern (linear time), or a function that returns the ranges it finds. */
  readonly find: string | ((text: string) => Iterable<Range>)
  /** Counts only what this says `true` for. */
  readonly validate?: (value: string) => boolean
  /** Longest value, in characters. Default 128: how much of a streamed answer has to be kept back. */
  readonly maxLength?: number
}

/** Compiles a user's detector, or says what is wrong with it. */
export const ofCustom = (
  { find, kind, maxLength = 128, validate }: Custom,
  key: string
): Result.Result<Detector, ConfigError> => {
  const wrong = (message: string) => Result.fail(new ConfigError({ key, message: `${key}: ${message}` }))
  if (!/^[a-z][a-z0-9-]{0,39}$/.test(kind)) {
    return wrong(`kind ${JSON.stringify(kind)} must be lower-case letters, digits and "-"`)
  }
  if (!(Number.isInteger(maxLength) && maxLength > 0)) {
    return wrong(`maxLength must be a whole number above 0, found ${String(maxLength)}`)
  }
  // What a user's code says when it breaks could quote what it was given.
  const careful = <A>(f: () => A): A =>
    Result.getOrThrowWith(Result.try(f), () => new Error(`the detector of ${kind} broke`))
  const counts = (text: string, { end, start }: Range) =>
    validate === undefined || careful(() => validate(text.slice(start, end)) === true)
  const detector = (ranges: (text: string) => ReadonlyArray<Range>): Detector => ({
    kind,
    own: true,
    reach: maxLength,
    find: (text) => ranges(text).filter((range) => counts(text, range))
  })
  if (typeof find === "function") {
    return Result.succeed(detector((text) => careful(() => Array.from(find(text), (range) => inside(range, text)))))
  }
  return Result.try({
    try: () => RE2JS.compile(find),
    catch: (error) =>
      new ConfigError({
        key,
        message: `${key}: ${JSON.stringify(find)} is no RE2 pattern (${
          error instanceof Error ? error.message : String(error)
        })`
      })
  }).pipe(Result.map((pattern) => detector((text) => matches(pattern, text))))
}

/** Everything that an RE2 pattern matches. */
const matches = (pattern: RE2JS, text: string): ReadonlyArray<Range> => {
  const found: Array<Range> = []
  const matcher = pattern.matcher(text)
  while (matcher.find()) if (matcher.end() > matcher.start()) found.push({ start: matcher.start(), end: matcher.end() })
  return found
}

const inside = (range: Range, text: string): Range => {
  const { end, start } = range
  const fits = Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start < end && end <= text.length
  return Result.getOrThrow(fits ? Result.succeed({ start, end }) : Result.fail(new Error("not a range of the text")))
}
