/** Gives a run of the tests its own folder for temporary files, and removes it at the end. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"

export const setup = (): (() => void) | undefined => {
  // Every project of the run calls this.
  if (basename(tmpdir()).startsWith("belay-")) return undefined
  // The workers inherit it, and so do the processes that tests start.
  const folder = process.env["TMPDIR"] = mkdtempSync(join(tmpdir(), "belay-"))
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}
