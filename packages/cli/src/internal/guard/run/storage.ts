/** The sessions of all systems, in one SQLite file, and the order of calls of one session. */
import { makeFolder } from "@belay/core/Folder"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Effect from "effect/Effect"
import { hash } from "node:crypto"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { Places } from "./places.ts"
import { messageOf, Refusal } from "./refusal.ts"

/** The most milliseconds that the store waits for other processes. */
const longest = 10_000

/**
 * Opens the store, whose operations wait at most `patience` milliseconds for other processes. Throws a `Refusal` that
 * says what is wrong with its file.
 */
export const openStore = ({ store }: Places, patience = longest): SqliteStore.SqliteStore => {
  try {
    return SqliteStore.make({ path: store, patience: Math.max(1, Math.min(longest, Math.floor(patience))) })
  } catch (error) {
    throw new Refusal(`the sessions of the guard cannot be opened: ${messageOf(error)}`)
  }
}

/** Returns the id of a session in the store. It has only letters that the store accepts. */
export const storedId = (system: string, session: string): string =>
  /^[\w.-]{1,100}$/.test(session) ? `${system}.${session}` : `${system}.h-${hash("sha256", session).slice(0, 40)}`

/** How many calls can work at the same time, if they are of different sessions. */
const lockFiles = 256

/**
 * Waits until no other process works on the session. The operating system ends the lock with the process, also if that
 * is killed. After `patience` milliseconds the call goes on: then the store finds out what happened at the same time.
 */
export const lockSession = ({ folder }: Places, id: string, patience: number): { readonly release: () => void } => {
  const locks = join(folder, "locks")
  const name = `${Number.parseInt(hash("sha256", id).slice(0, 8), 16) % lockFiles}.lock`
  let database: DatabaseSync | undefined
  try {
    makeFolder(locks, 0o700)
    database = new DatabaseSync(join(locks, name), { timeout: Math.max(1, Math.floor(patience)) })
    database.exec("BEGIN EXCLUSIVE")
  } catch {
    // The store checks revisions, so the lock only saves work.
  }
  return {
    release: () => {
      if (database?.isOpen === true) database.close()
    }
  }
}

/** The most sessions that are removed at a time, so that no call waits long. */
const maxPruned = 20

/** Removes sessions without a call in so many days. */
export const prune = async ({ sessions }: SqliteStore.SqliteStore, keepDays: number, now: number): Promise<void> => {
  const before = now - keepDays * 86_400_000
  const stale = await Effect.runPromise(sessions.list({ before, limit: maxPruned }))
  for (const { id } of stale) await Effect.runPromise(sessions.remove(id))
}
