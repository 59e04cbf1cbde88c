/** Text tables for a terminal. */

/** Renders rows below a header. The first column is aligned left, the others right. */
export const textTable = (header: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const lines = [header, ...rows].map((row) => row.map(printable))
  const widths = header.map((_, column) => Math.max(...lines.map((row) => row[column]!.length)))
  const align = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)
  return lines.map((row) => row.map(align).join("  ").trimEnd()).join("\n")
}

/** Vendors and models choose names, so control characters are removed: they could move the cursor or forge a line. */
const printable = (text: string): string => {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "?")
  return line.length > 60 ? `${line.slice(0, 57)}...` : line
}
