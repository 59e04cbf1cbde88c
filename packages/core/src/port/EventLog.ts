/**
 * Keeps the events of the last turn of each session, so that other processes can read them, also while the turn runs.
 * It knows nothing about agents: a host writes the rows and reads them.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Json } from "../data/Json.ts"
import { bodyOf, keepBody, type KeptBody } from "./internal/keptBody.ts"

/** Some events of one turn, in their order. @category models @since 0.1.0 */
export interface EventRow {
  /** The number of its first event. */
  readonly first: number
  /** The number of its last event. The rows of a session are ordered by it. */
  readonly last: number
  /** What the host has written. */
  readonly body: Json
}

/** New rows of one session. @category models @since 0.1.0 */
export interface EventBatch {
  readonly sessionId: string
  /** At least one. */
  readonly rows: readonly [EventRow, ...ReadonlyArray<EventRow>]
  /** The number of the first event of a turn, if one begins with a row of this batch. Rows before it are old then. */
  readonly begins?: number
}

/** What is known of the events of a session. @category models @since 0.1.0 */
export interface EventPage {
  readonly rows: ReadonlyArray<EventRow>
  /** The number of the last event that was removed, and 0 if there was none. */
  readonly removedTo: number
}

/** Stores events, so that other processes can read them. @category models @since 0.1.0 */
export interface EventLog {
  /**
   * Adds all batches or none. A session has at most one batch. A row whose `last` is known in its session is not added
   * again. Where a turn begins, old rows that were written more than `keepMs` milliseconds ago are removed.
   */
  readonly write: (
    batches: ReadonlyArray<EventBatch>,
    options: { readonly keepMs: number }
  ) => Effect.Effect<void, unknown>
  /**
   * Returns the oldest rows that end after the event with this number, at most `limit`. Without `after`, they begin
   * with the last turn.
   */
  readonly read: (
    sessionId: string,
    options: { readonly after?: number; readonly limit: number }
  ) => Effect.Effect<EventPage, unknown>
  /** Removes the events of sessions that were written last before this time. Returns of how many sessions. */
  readonly prune: (before: number) => Effect.Effect<number, unknown>
}

/** How many characters a log in memory keeps. */
const maxLength = 128_000_000

/**
 * Makes a log in memory. Its content is lost when the process ends. If it has more than 128 million characters, it
 * removes the events of sessions that were written last longest ago, unless they are as new as `keepMs` says.
 *
 * @category constructors
 * @since 0.1.0
 */
export const inMemory = (): EventLog => {
  interface Row extends Omit<EventRow, "body">, KeptBody {
    readonly writtenAt: number
  }
  interface Kept {
    rows: Array<Row>
    removedTo: number
    turnFirst: number
    writtenAt: number
  }
  /** In the order in which they were written last. */
  const sessions = new Map<string, Kept>()
  let length = 0
  const add = ({ begins = 0, rows, sessionId }: EventBatch, writtenAt: number, keepMs: number): void => {
    // If nothing is known, nobody knows what there was before.
    const known = sessions.get(sessionId) ?? { rows: [], removedTo: rows[0].first - 1, turnFirst: 0, writtenAt }
    const isOld = (row: Row) => row.last < begins && row.writtenAt <= writtenAt - keepMs
    const old = begins === 0 ? [] : known.rows.filter(isOld)
    if (old.length > 0) known.rows = known.rows.filter((row) => !isOld(row))
    length -= lengthOf(old)
    for (const row of rows) insert(known.rows, row, writtenAt)
    known.removedTo = Math.max(known.removedTo, ...old.map(({ last }) => last))
    known.turnFirst = Math.max(known.turnFirst, begins)
    known.writtenAt = writtenAt
    sessions.delete(sessionId)
    sessions.set(sessionId, known)
  }
  /** Adds a row at its place, which is mostly the end. */
  const insert = (kept: Array<Row>, { body, first, last }: EventRow, writtenAt: number): void => {
    const index = kept.findLastIndex((row) => row.last <= last)
    if (kept[index]?.last === last) return
    const row = { first, last, writtenAt, ...keepBody(body, kept) }
    kept.splice(index + 1, 0, row)
    length += lengthOf([row])
  }
  const removeOldest = (before: number, most: number): number => {
    let removed = 0
    for (const [sessionId, { rows, writtenAt }] of sessions) {
      if (length <= most) break
      if (writtenAt >= before) continue
      sessions.delete(sessionId)
      length -= lengthOf(rows)
      removed++
    }
    return removed
  }
  return {
    write: (batches, { keepMs }) =>
      Effect.map(Clock.currentTimeMillis, (time) => {
        for (const batch of batches) add(batch, time, keepMs)
        removeOldest(time - keepMs, maxLength)
      }),
    read: (sessionId, { after, limit }) =>
      Effect.sync(() => {
        const { removedTo = 0, rows = [], turnFirst = 0 } = sessions.get(sessionId) ?? {}
        const page = rows.filter(({ last }) => last > (after ?? turnFirst - 1)).slice(0, limit)
        return { rows: page.map((row) => ({ first: row.first, last: row.last, body: bodyOf(row) })), removedTo }
      }),
    prune: (before) => Effect.sync(() => removeOldest(before, -1))
  }
}

const lengthOf = (rows: ReadonlyArray<KeptBody>): number =>
  rows.reduce((sum, { json, texts }) => sum + texts.reduce((all, text) => all + text.length, json.length), 0)
