/** The error of a store, and the check of the ids of its sessions. */
import { TaggedError } from "@belay/core/TaggedError"
import * as Schema from "effect/Schema"

/**
 * The database cannot be used, or an operation on it failed. Nothing of the operation was stored, and a refused
 * database was not changed.
 *
 * @category errors
 * @since 0.1.0
 */
export class StoreError extends TaggedError<StoreError>()("StoreError", {
  /** The path of the file, or the address of the server without its password. */
  path: Schema.String,
  /**
   * - `newer`: a later release wrote the database.
   * - `foreign`: the database of another program.
   * - `corrupt`: not a database, or a damaged one.
   * - `unreachable`: the file or its folder cannot be opened, or the server cannot be reached.
   * - `busy`: another process held the database for too long.
   * - `full`: no space is left.
   * - `closed`: the store was closed.
   * - `id`: not a session id.
   * - `missing`, `taken`: `fork` from a missing session, or to an existing id; a write into an erased session.
   * - `failed`: any other error.
   */
  problem: Schema.Literals([
    "newer",
    "foreign",
    "corrupt",
    "unreachable",
    "busy",
    "full",
    "closed",
    "id",
    "missing",
    "taken",
    "failed"
  ]),
  /** What happened, and what to do. */
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {}

/** Creates the error. */
export const storeError = (path: string, problem: StoreError["problem"], what: string, cause?: unknown): StoreError =>
  new StoreError({ path, problem, message: `${path}: ${what}`, ...(cause === undefined ? {} : { cause }) })

/** The error of a write into a session that was erased and has not begun again. */
export const goneError = (path: string, id: string): StoreError =>
  storeError(path, "missing", `session ${id} was erased, and nothing of it is stored any more: begin a new one`)

/** Returns a valid session id, or throws. */
export const requireSessionId = (path: string, id: string): string => {
  if (/^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/.test(id)) return id
  throw storeError(
    path,
    "id",
    `session id ${
      JSON.stringify(id.slice(0, 128))
    } must be 1 to 128 letters, digits, "_", "-" or ".", and begin with a letter or digit`
  )
}

/** Parses JSON from the database. */
export const parse = (path: string, text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw storeError(path, "corrupt", "it has a text that is not JSON: restore it from a backup", error)
  }
}
