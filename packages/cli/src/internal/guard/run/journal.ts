/** Writes what was decided: a recording that `belay guard log`, `belay inspect` and `belay backtest` read. */
import type { AgentHook } from "@belay/core/AgentHook"
import { makeFolder } from "@belay/core/Folder"
import type { Guard } from "@belay/guard/Guard"
import * as Recorder from "@belay/observe/Recorder"
import { appendFileSync, closeSync, fstatSync, openSync, readSync, renameSync } from "node:fs"
import type { Places } from "./places.ts"
import { messageOf } from "./refusal.ts"

/** Where a file is moved to another name, so that the log stays small: 32 MiB. */
const maxBytes = 33_554_432

/** The hook that records, and the function that listens to a guard and writes at the end. */
export interface Journal {
  readonly hook: AgentHook
  readonly listen: (guard: Guard) => void
  /** Returns why it could not. */
  readonly write: () => Promise<string | undefined>
}

/** Opens the log. */
export const openJournal = ({ folder, log }: Places): Journal => {
  makeFolder(folder, 0o700)
  turnOver(log)
  const { eventTypes, hooks: [hook] = [], onEvent } = Recorder.make({ path: log, name: "guard-log" })
  return {
    // A recorder has one hook.
    hook: hook as AgentHook,
    listen: (guard) => void guard.listen(onEvent!, eventTypes),
    write: () => Promise.resolve(hook?.close?.()).then(() => undefined, messageOf)
  }
}

/** Begins a new file if the log is long, or if its last line was cut off by a full disk. */
const turnOver = (path: string): void => {
  let file: number
  try {
    file = openSync(path, "r")
  } catch {
    return
  }
  try {
    const { size } = fstatSync(file)
    if (size === 0) return
    const last = Buffer.alloc(1)
    readSync(file, last, 0, 1, size - 1)
    if (size < maxBytes && last[0] === 10) return
    renameSync(path, `${path}.1`)
  } catch {
    // Another process has done it.
  } finally {
    closeSync(file)
  }
}

/** Notes why the guard refused although no hook did. A disk that is full does not change the refusal. */
export const noteFailure = ({ failures, folder }: Places, failure: object): void => {
  try {
    makeFolder(folder, 0o700)
    turnOver(failures)
    appendFileSync(failures, `${JSON.stringify(failure)}\n`, { mode: 0o600 })
  } catch {
    // The reason is on standard error.
  }
}
