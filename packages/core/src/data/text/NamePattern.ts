/**
 * Selects names by patterns, and suggests the known name that is closest to a misspelt one.
 *
 * @since 0.1.0
 */

/** A pattern, or an object with a name, such as a tool. @category models @since 0.2.0 */
export type Pattern = string | { readonly name: string }

/**
 * Compiles patterns to a test for names. `*` matches any characters, a leading `!` excludes, and every other character
 * matches itself. If all patterns are exclusions, every other name matches. The test takes time linear in the length of
 * the name.
 *
 * @category constructors
 * @since 0.1.0
 */
export const matcher = (patterns: Pattern | ReadonlyArray<Pattern>): (name: string) => boolean => {
  const list = [patterns].flat().map((pattern: Pattern) => typeof pattern === "string" ? pattern : pattern.name)
  const without = list.filter((pattern) => pattern.startsWith("!")).map((pattern) => pattern.slice(1).split("*"))
  const only = list.filter((pattern) => !pattern.startsWith("!")).map((pattern) => pattern.split("*"))
  const others = only.length === 0 && without.length > 0
  return (name) =>
    (others || only.some((pieces) => fits(pieces, name))) && !without.some((pieces) => fits(pieces, name))
}

const fits = (pieces: ReadonlyArray<string>, name: string): boolean => {
  if (pieces.length === 1) return name === pieces[0]
  const first = pieces[0]!
  const last = pieces[pieces.length - 1]!
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false
  let at = first.length
  for (const piece of pieces.slice(1, -1)) {
    const found = name.indexOf(piece, at)
    if (found < 0 || found + piece.length > name.length - last.length) return false
    at = found + piece.length
  }
  return true
}

/**
 * Returns the known name that is closest to a misspelt one, or nothing if none is close. A name is close if at most a
 * third of its letters differ (two letters for short names), and at most half of those of the known name. Case and
 * punctuation do not count.
 *
 * @example
 * ```ts
 * import { nearest } from "@belay/core/NamePattern"
 *
 * nearest("pre_tol_call", ["preToolCall", "postToolCall"]) // "preToolCall"
 * nearest("deploy", ["preToolCall", "postToolCall"]) // undefined
 * ```
 * @category reading
 * @since 0.1.0
 */
export const nearest = (name: string, known: Iterable<string>): string | undefined => {
  if (name.length > maxName) return undefined
  const wanted = plain(name)
  let least = Math.max(2, Math.floor(wanted.length / 3)) + 1
  let best: string | undefined
  for (const candidate of known) {
    const letters = plain(candidate.slice(0, maxName))
    if (Math.abs(letters.length - wanted.length) >= least) continue
    const distance = editDistance(wanted, letters)
    if (distance >= least || distance * 2 > letters.length) continue
    least = distance
    best = candidate
  }
  return best
}

/** A longer text is not a mistyped name. */
const maxName = 100

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "")

const editDistance = (a: string, b: string): number => {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      row[j] = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
    }
    previous = row
  }
  return previous[b.length]!
}
