/**
 * Reads a session. A long conversation is read in pieces, and other work of the process is done between them, because
 * `node:sqlite` blocks the event loop while it reads.
 */
import type { SessionConflict } from "@belay/core/SessionStore"
import * as Effect from "effect/Effect"
import { parse, requireSessionId, type StoreError, storeError } from "../error.ts"
import { attempt } from "./attempt.ts"
import type { Database } from "./database.ts"

/** Messages that are read at a time, which takes a few milliseconds. */
const pieceSize = 1_000

/** How often a long conversation is read again because it was changed meanwhile. Then it is read as a whole. */
const maxAttempts = 3

/** The row of a session. */
interface Row {
  readonly key: number
  readonly revision: number
  readonly state: string
  readonly messages: number
}

type Failure = StoreError | SessionConflict

/** Returns the stored state with its messages, not decoded yet. Returns nothing if there is no such session. */
export const loadSession = Effect.fnUntraced(function*(
  database: Database,
  id: string
): Effect.fn.Return<object | undefined, Failure> {
  const { path, read } = database
  for (let count = 0; count < maxAttempts; count++) {
    const row = yield* attempt(path, () => rowOf(database, requireSessionId(path, id)))
    if (row === undefined) return undefined
    if (row.messages <= pieceSize) break
    const messages: Array<unknown> = []
    for (let at = 0; at < row.messages; at += pieceSize) {
      for (const one of yield* attempt(path, () => messagesOf(database, row, at, at + pieceSize))) messages.push(one)
      yield* Effect.yieldNow
    }
    const after = yield* attempt(path, () => rowOf(database, id))
    if (after?.key === row.key && after.revision === row.revision) {
      return yield* attempt(path, () => stateOf(database, id, row, messages))
    }
  }
  return yield* attempt(path, () =>
    read(() => {
      const row = rowOf(database, id)
      return row === undefined ? undefined : stateOf(database, id, row, messagesOf(database, row, 0, 2 ** 53))
    }))
})

const rowOf = ({ sql }: Database, id: string): Row | undefined =>
  // The row has the columns of the SELECT.
  sql("SELECT key, revision, state, messages FROM sessions WHERE id = ?").get(id) as Row | undefined

const messagesOf = ({ path, sql }: Database, { key }: Row, from: number, to: number): ReadonlyArray<unknown> =>
  sql("SELECT message FROM messages WHERE session = ? AND position >= ? AND position < ? ORDER BY position")
    .all(key, from, to).map(({ message }) => parse(path, String(message)))

const stateOf = ({ path }: Database, id: string, row: Row, messages: ReadonlyArray<unknown>): object => {
  if (messages.length !== row.messages) {
    const found = `session ${id} should have ${row.messages} messages and has ${messages.length}`
    throw storeError(path, "corrupt", `${found}: restore it from a backup`)
  }
  return { ...Object(parse(path, String(row.state))), messages }
}
