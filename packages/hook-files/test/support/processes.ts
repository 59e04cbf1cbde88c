/** Folders, scripts and processes of the tests. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll } from "vitest"

export { alive, isGone, until } from "../../../../test/support/processes.ts"

const folders: Array<string> = []
afterAll(() => folders.forEach((path) => rmSync(path, { recursive: true, force: true })))

/** A folder that is gone after the tests of the file. */
export const folder = (): string => {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "belay-hooks-")))
  folders.push(path)
  return path
}

/** Writes a file, with an execute bit when it begins with `#!`. */
export const write = (path: string, text: string): string => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  if (text.startsWith("#!")) chmodSync(path, 0o755)
  return path
}
