/** Other processes, as tests look at them. */
import { readdirSync, readFileSync } from "node:fs"
import { setImmediate as turn } from "node:timers/promises"

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
export const isGone = (pid: string | number): boolean => /^$|\) [ZX] /.test(readable(`/proc/${pid}/stat`))
