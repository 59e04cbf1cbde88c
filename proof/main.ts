/** `npm run proof`: prints on which paths the guard holds, for each driver and for the driver's own mechanism. */
import { columns as installed, columnsFrom, isInstalled, nameOf, others, paths, runCell } from "./run.ts"

const columns = [...installed, ...(await Promise.all(others.filter(isInstalled).map(columnsFrom))).flat()]
const marks = { holds: "holds", "does not hold": "DOES NOT HOLD", "does not exist": "–" }
const width = Math.max(...paths.map(({ name }) => name.length))
const widths = columns.map((column) => Math.max(nameOf(column).length, 13))
console.log([" ".repeat(width), ...columns.map((column, at) => nameOf(column).padEnd(widths[at]!))].join("  "))
const notes: Array<string> = []
for (const path of paths) {
  const cells: Array<string> = []
  for (const [at, column] of columns.entries()) {
    const [cell, note] = await runCell(path, column)
    cells.push(marks[cell].padEnd(widths[at]!))
    if (cell === "does not hold") notes.push(`${path.name}, ${nameOf(column)}: ${note}`)
  }
  console.log([path.name.padEnd(width), ...cells].join("  "))
}
for (const note of notes) console.log(note)
for (const { folder, name } of others.filter((other) => !isInstalled(other))) {
  console.log(`${name} is not installed: run node scripts/setup.mjs --${folder}`)
}
// An agent that waits for a person keeps the process.
process.exit()
