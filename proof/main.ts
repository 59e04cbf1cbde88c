/**
 * `npm run proof`: prints on which paths the guard holds, for each driver and for the driver's own mechanism. With
 * `--cli`, it runs the programs that are installed in `test/cli` instead, also with all settings of hooks. `--settings`
 * runs these settings only, those with a text in their names if one follows, and `--record` writes down what happened.
 */
import { proveCodexSettings } from "./codexSettings.ts"
import { proveGeminiSettings } from "./geminiSettings.ts"
import { provePrograms } from "./programs.ts"
import { columns as installed, columnsFrom, isInstalled, nameOf, others, paths, runCell } from "./run.ts"
import { proveSettings } from "./settings.ts"

const printPrograms = async (): Promise<void> => {
  const proved = await provePrograms()
  if (proved.length === 0) console.log("No program is installed: run npm run test:cli first.")
  for (const { paths: held, program, stderr } of proved) {
    console.log(program)
    for (const [path, holds] of Object.entries(held)) {
      console.log(`  ${holds ? "holds         " : "DOES NOT HOLD "} ${path}`)
    }
    if (stderr !== "" && Object.values(held).includes(false)) console.log(stderr)
  }
}

const printDrivers = async (): Promise<void> => {
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
}

const options = process.argv.slice(2)
const text = options.find((option) => !option.startsWith("--")) ?? ""
if (options.includes("--cli")) await printPrograms()
if (options.includes("--cli") || options.includes("--settings")) {
  await proveSettings(text, options.includes("--record"))
  await proveCodexSettings(text, options.includes("--record"))
  await proveGeminiSettings(text, options.includes("--record"))
} else await printDrivers()
// An agent that waits for a person keeps the process.
process.exit()
