/** Gives a run of the tests its own folders for temporary files and as home, and removes them at the end. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"

export const setup = (): (() => void) | undefined => {
  // Every project of the run calls this.
  if (basename(tmpdir()).startsWith("belay-")) return undefined
  // The workers inherit it, and so do the processes that tests start.
  const folder = process.env["TMPDIR"] = mkdtempSync(join(tmpdir(), "belay-"))
  // Shells and programs would otherwise read what the person has configured.
  process.env["HOME"] = join(folder, "home")
  mkdirSync(process.env["HOME"])
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}
