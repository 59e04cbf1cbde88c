/** Folders, scripts and processes of the tests. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { setImmediate as turn } from "node:timers/promises"
import { afterAll } from "vitest"

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

/** Waits for something that other processes do, without a clock. */
export const until = async (happened: () => boolean): Promise<void> => {
  while (!happened()) await turn()
}

const readable = (path: string): string => {
  try {
    return readFileSync(path, "latin1")
  } catch {
    return ""
  }
}

/** Processes that still run with `word` in their command line. */
export const alive = (word: string): ReadonlyArray<string> =>
  readdirSync("/proc").filter((pid) =>
    /^\d+$/.test(pid) && Number(pid) !== process.pid && readable(`/proc/${pid}/cmdline`).includes(word) &&
    !isGone(pid)
  )

/** Whether a process has ended; somebody may still have to take note of it. */
export const isGone = (pid: string): boolean => /^$|\) [ZX] /.test(readable(`/proc/${pid}/stat`))
