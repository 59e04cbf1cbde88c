/**
 * Gives a run of the tests its own folders for temporary files and as home, and removes them at the end. Programs that
 * the tests start load bundled modules.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { bundledModules } from "./bundledModules.ts"

const useBundledModules = fileURLToPath(new URL("useBundledModules.cjs", import.meta.url))

export const setup = async (): Promise<(() => void) | undefined> => {
  // Every project of the run calls this.
  if (basename(tmpdir()).startsWith("belay-")) return undefined
  // The workers inherit it, and so do the processes that tests start.
  const folder = process.env["TMPDIR"] = mkdtempSync(join(tmpdir(), "belay-"))
  // Shells and programs would otherwise read what the person has configured.
  process.env["HOME"] = join(folder, "home")
  mkdirSync(process.env["HOME"])
  process.env["BELAY_TEST_MODULES"] = await bundledModules()
  process.env["NODE_OPTIONS"] = `--require=${JSON.stringify(useBundledModules)}`
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}
