/** Folders and files for tests. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { setImmediate as nextTurn } from "node:timers/promises"
import { afterAll } from "vitest"

const folders: Array<string> = []
afterAll(() => folders.forEach((path) => rmSync(path, { recursive: true, force: true })))

/** Creates a folder that is deleted after the tests of the file. */
export const folder = (): string => {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "belay-hooks-")))
  folders.push(path)
  return path
}

/** Writes a file, and creates its folders. */
export const write = (path: string, text: string): string => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

/** Waits until other processes or the file system have done something, without a timer. */
export const until = async (happened: () => boolean): Promise<void> => {
  while (!happened()) await nextTurn()
}
