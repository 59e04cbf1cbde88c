/**
 * The pages that are written from data. They are part of the site and of the packed documentation, and are not kept.
 *
 * `npm run pages` prints their names, `npm run pages -- rows` one of them, and `npm run pages -- --into docs` writes all of
 * them below a folder.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { page as hookEvents } from "../../packages/cli/src/internal/files/explain.ts"
import { optionsPage } from "./options.ts"
import { rows } from "./rows.ts"

/** Every generated page: its path below `docs` without `.md`, and what writes it. */
export const generated: ReadonlyMap<string, () => string> = new Map([
  ["catalogue/options", optionsPage],
  ["hook-events", hookEvents],
  ["rows", () => rows().text]
])

if (process.argv[1]?.endsWith("generated.ts")) {
  const [first, folder] = process.argv.slice(2)
  if (first === undefined) console.log([...generated.keys()].join("\n"))
  else if (first === "--into" && folder !== undefined) {
    for (const [page, write] of generated) {
      const file = join(folder, `${page}.md`)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, write())
    }
  } else if (generated.has(first)) console.log(generated.get(first)!())
  else {
    console.error(`No generated page is called ${first}. There are ${[...generated.keys()].join(", ")}.`)
    process.exitCode = 1
  }
}
