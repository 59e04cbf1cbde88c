/**
 * Gives a run of the tests its own folders for temporary files and as home, and removes them at the end. Programs that
 * the tests start load bundled modules.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import type { TestProject } from "vitest/node"
import { bundledModules } from "./bundledModules.ts"

const useBundledModules = fileURLToPath(new URL("useBundledModules.cjs", import.meta.url))

export const setup = async ({ vitest }: TestProject): Promise<(() => void) | undefined> => {
  // Every project of the run calls this.
  if (basename(tmpdir()).startsWith("belay-")) return undefined
  // The workers inherit it, and so do the processes that tests start.
  const folder = process.env["TMPDIR"] = mkdtempSync(join(tmpdir(), "belay-"))
  // Shells and programs would otherwise read what the person has configured.
  process.env["HOME"] = join(folder, "home")
  mkdirSync(process.env["HOME"])
  // Where the sources change during the run, programs have to load the sources.
  if (!vitest.config.watch && process.env["BELAY_TEST_MODULES"] === undefined) {
    process.env["BELAY_TEST_MODULES"] = await bundledModules()
    const options = [process.env["NODE_OPTIONS"], `--require=${JSON.stringify(useBundledModules)}`]
    process.env["NODE_OPTIONS"] = options.filter(Boolean).join(" ")
  }
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}
