/** Whether two path globs can match the same path. */

/**
 * Whether some path may match both globs. A class such as `[a-z]` counts as any characters, so the answer may be a
 * wrong yes, but never a wrong no. The second glob is a word of the shell.
 */
export const globsIntersect = (a: string, b: string): boolean => {
  const findsHidden = b.includes("@(|.)")
  const [left, right] = [a.split("/"), b.split("/")]
  let row = [true, ...right.map(() => false)]
  for (let j = 0; j < right.length && right[j] === "**"; j++) row[j + 1] = true
  for (const one of left) {
    const next = [one === "**" && row[0]!]
    for (const [j, other] of right.entries()) {
      next.push(
        one === "**"
          ? row[j + 1]! || next[j]!
          : other === "**"
          ? next[j]! || (row[j + 1]! && (findsHidden || !/^\\?\./.test(one)))
          : row[j]! && segmentsIntersect(one, other)
      )
    }
    row = next
  }
  return row[right.length]!
}

/** Whether some name may match both segments. A leading `*` of the second one does not match a dot, as in the shell. */
const segmentsIntersect = (a: string, b: string): boolean => {
  if (/^[*?]/.test(b) && (a.startsWith(".") || a.startsWith("\\."))) return false
  const [left, right] = [patternCharacters(a), patternCharacters(b)]
  if (left.length * right.length > 65_536) return true
  let row: Array<boolean> = [true]
  for (const c of right) row.push(c === "*" && row[row.length - 1]!)
  for (const c of left) {
    const next = [c === "*" && row[0]!]
    for (const [j, d] of right.entries()) {
      next.push(
        c === "*" || d === "*"
          ? (c === "*" && (row[j + 1]! || next[j]!)) || (d === "*" && (next[j]! || row[j + 1]!)) ||
            (c === "*" && d === "*" && row[j]!)
          : row[j]! && (c === "?" || d === "?" || c === d)
      )
    }
    row = next
  }
  return row[right.length]!
}

/** The characters of a segment: escapes and classes become `?` and `*`. */
const patternCharacters = (segment: string): ReadonlyArray<string> =>
  segment.replaceAll(/\\(.)/g, (_, c: string) => (c === "*" || c === "?" ? "?" : c)).replaceAll(
    /[@!+?*]?\([^)]*\)|\[[^\]]*\]/g,
    "*"
  ).split(
    ""
  )
