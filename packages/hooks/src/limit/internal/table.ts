/** Tables for people: columns as wide as they have to be, numbers to the right. */

/** Renders rows under a head; the first column is text. */
export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const all = [head, ...rows].map((row) => row.map(printable))
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]!.length)))
  return all.map((row) =>
    row.map((cell, column) => column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)).join("  ")
      .trimEnd()
  )
    .join("\n")
}

/** Names come from vendors and models: nothing in them may move a cursor or forge a line. */
const printable = (text: string): string => {
  const clean = text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "?")
  return clean.length > 60 ? `${clean.slice(0, 57)}...` : clean
}
