/**
 * Writes `docs/hook-events.md` from the data of the command line; without `--write` it says whether the page is up to
 * date.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { page } from "../packages/cli/src/internal/explain.ts"

const file = "docs/hook-events.md"
const after = page()
const isStale = !existsSync(file) || readFileSync(file, "utf8") !== after
if (isStale && process.argv.includes("--write")) writeFileSync(file, after)
else if (isStale) {
  console.error(`${file} is not what its data say. Run: npm run hook-events`)
  process.exitCode = 1
}
