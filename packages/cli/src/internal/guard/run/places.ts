/** Where the guard keeps what outlives a call. */
import { homedir } from "node:os"
import { join } from "node:path"

/** Folders and files of the guard. */
export interface Places {
  readonly home: string
  /** The folder of the guard. */
  readonly folder: string
  /** The SQLite file with all sessions. */
  readonly store: string
  /** What was decided, as a recording. */
  readonly log: string
  /** Why the guard refused because it could not work: one JSON object per line. */
  readonly failures: string
  /** The decisions of people which hook files, and which guards, may run. */
  readonly trust: string
}

/** Returns the places for a home folder. */
export const placesIn = (home: string = homedir()): Places => {
  const folder = join(home, ".belay", "guard")
  return {
    home,
    folder,
    store: join(folder, "sessions.db"),
    log: join(folder, "log.jsonl"),
    failures: join(folder, "failures.jsonl"),
    trust: join(home, ".belay", "trust")
  }
}
