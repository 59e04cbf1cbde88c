/** Errors of SQLite. */
import { SessionConflict } from "@belay/core/SessionStore"
import * as Effect from "effect/Effect"
import { StoreError, storeError } from "../error.ts"

/** The problem for each primary result code of SQLite. */
const problems: { readonly [code: number]: readonly [StoreError["problem"], string] } = {
  5: ["busy", "another process held the database for too long: try again"],
  6: ["busy", "the database is locked: try again"],
  8: ["unreachable", "the database cannot be written: check the permissions of the file and its directory"],
  10: ["failed", "reading or writing the disk failed"],
  11: ["corrupt", "the database is damaged: restore it from a backup, or use another file"],
  13: ["full", "no space is left on the disk"],
  14: ["unreachable", "the database cannot be opened: check the path and the permissions"],
  23: ["unreachable", "the database cannot be opened: access was denied"],
  26: ["corrupt", "this is not a SQLite database: use another file"]
}

/** Converts an error of `node:sqlite`. Returns nothing for other errors. */
export const sqliteError = (path: string, error: unknown): StoreError | undefined => {
  if (!(error instanceof Error) || !("code" in error)) return undefined
  if (error.code === "ERR_INVALID_STATE") return storeError(path, "closed", "the store is closed", error)
  if (error.code === "ERR_OUT_OF_RANGE") {
    return storeError(path, "corrupt", "it has a number that is too large: restore it from a backup", error)
  }
  if (error.code !== "ERR_SQLITE_ERROR") return undefined
  const code = "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : 0
  const [problem, what] = problems[code] ?? ["failed", error.message]
  return storeError(path, problem, what, error)
}

/** Runs a synchronous function. A `StoreError` or `SessionConflict` is a failure, any other error is a defect. */
export const attempt = <A>(path: string, act: () => A): Effect.Effect<A, StoreError | SessionConflict> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(act())
    } catch (error) {
      if (error instanceof StoreError || error instanceof SessionConflict) return Effect.fail(error)
      const failure = sqliteError(path, error)
      return failure === undefined ? Effect.die(error) : Effect.fail(failure)
    }
  })
