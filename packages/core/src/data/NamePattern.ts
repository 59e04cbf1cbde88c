/**
 * Names by pattern: how tools and agents are picked.
 *
 * @since 0.1.0
 */

/**
 * Compiles patterns into a test: `*` stands for any characters, a leading `!` excludes, everything else stands for itself. With
 * exclusions only, every other name fits. Linear in the length of the name.
 *
 * @category constructors
 * @since 0.1.0
 */
export const matcher = (patterns: string | ReadonlyArray<string>): (name: string) => boolean => {
  const list = typeof patterns === "string" ? [patterns] : patterns
  const without = list.filter((pattern) => pattern.startsWith("!")).map((pattern) => pattern.slice(1).split("*"))
  const only = list.filter((pattern) => !pattern.startsWith("!")).map((pattern) => pattern.split("*"))
  const others = only.length === 0 && without.length > 0
  return (name) => (others || only.some((pieces) => fits(pieces, name))) && !without.some((pieces) => fits(pieces, name))
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
