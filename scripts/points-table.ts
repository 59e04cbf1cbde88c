// Prints the table of hook points as Markdown; `--write` puts it into docs/hooks.md.
// node --conditions=@belay/source scripts/points-table.ts [--write]
import { type Row, table } from "@belay/core/HookPoint"
import { readFileSync, writeFileSync } from "node:fs"

/** The file that carries the table, and the lines around it. */
export const file = "docs/hooks.md"
const begin = "<!-- points:begin -->"
const end = "<!-- points:end -->"

const cells = ([point, { legal, onReject, order }]: readonly [string, Row]): string =>
  `| \`${point}\` | ${order} | ${legal.join(", ") || "none"} | ${legal.includes("Reject") ? onReject : ""} |`

/** The table as Markdown. `Continue` is legal everywhere and not repeated. */
export const markdown: string = [
  "| point | order | actions other than Continue | what Reject means |",
  "| --- | --- | --- | --- |",
  ...Object.entries(table).map(cells)
].join("\n")

/** Puts the table between its markers, or fails when they are missing. */
export const insert = (text: string): string => {
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`${file} has no ${begin} ... ${end}`)
  return `${text.slice(0, from + begin.length)}\n${markdown}\n${text.slice(to)}`
}

if (process.argv[1]?.endsWith("points-table.ts")) {
  if (process.argv.includes("--write")) writeFileSync(file, insert(readFileSync(file, "utf8")))
  else console.log(markdown)
}
