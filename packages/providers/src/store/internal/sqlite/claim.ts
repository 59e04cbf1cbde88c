/** Claims the sessions of a file for one process. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { attempt, sqliteError } from "./attempt.ts"

/**
 * Claims the sessions until the scope closes. Returns false if another process has them. The claim is the lock of an
 * empty database beside the file, which the operating system frees when a process ends, however it ends.
 */
export const claimOf = (path: string): Effect.Effect<boolean, unknown, Scope.Scope> =>
  Effect.uninterruptible(Effect.gen(function*() {
    const lock = yield* attempt(path, () => lockOf(path))
    if (lock === undefined) return false
    yield* Effect.addFinalizer(() => Effect.sync(() => lock.close()))
    return true
  }))

/** Returns what holds the lock, or nothing if another process does. */
const lockOf = (path: string) => {
  const { realpathSync } = process.getBuiltinModule("node:fs")
  // `open` has found the module.
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite") as typeof import("node:sqlite")
  const database = new DatabaseSync(`${realpathSync(path)}-runner`, { timeout: 0 })
  try {
    database.exec("BEGIN EXCLUSIVE")
    return database
  } catch (error) {
    database.close()
    if (sqliteError(path, error)?.problem === "busy") return undefined
    throw error
  }
}
