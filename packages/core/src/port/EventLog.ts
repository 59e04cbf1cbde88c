/**
 * Keeps the events of the last turn of each session, so that other processes can read them, also while the turn runs.
 * It knows nothing about agents: a host writes the rows and reads them.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Json } from "../data/Json.ts"

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

/** Makes a log in memory. Its content is lost when the process ends. @category constructors @since 0.1.0 */
export const inMemory = (): EventLog => {
  interface Kept {
    readonly rows: ReadonlyArray<EventRow & { readonly writtenAt: number }>
    readonly removedTo: number
    readonly turnFirst: number
    readonly writtenAt: number
  }
  const sessions = new Map<string, Kept>()
  const add = ({ begins = 0, rows, sessionId }: EventBatch, writtenAt: number, keepMs: number): void => {
    // If nothing is known, nobody knows what there was before.
    const unknown = { rows: [], removedTo: rows[0].first - 1, turnFirst: 0 }
    const known = sessions.get(sessionId) ?? unknown
    const isOld = (row: Kept["rows"][number]) => row.last < begins && row.writtenAt <= writtenAt - keepMs
    const kept = known.rows.filter((row) => !isOld(row))
    const added = rows.filter(({ last }) => !kept.some((row) => row.last === last))
    sessions.set(sessionId, {
      rows: [...kept, ...added.map((row) => ({ ...structuredClone(row), writtenAt }))].toSorted((a, b) =>
        a.last - b.last
      ),
      removedTo: Math.max(known.removedTo, ...known.rows.filter(isOld).map(({ last }) => last)),
      turnFirst: Math.max(known.turnFirst, begins),
      writtenAt
    })
  }
  return {
    write: (batches, { keepMs }) =>
      Effect.map(Clock.currentTimeMillis, (time) => {
        for (const batch of batches) add(batch, time, keepMs)
      }),
    read: (sessionId, { after, limit }) =>
      Effect.sync(() => {
        const { removedTo = 0, rows = [], turnFirst = 0 } = sessions.get(sessionId) ?? {}
        const page = rows.filter(({ last }) => last > (after ?? turnFirst - 1)).slice(0, limit)
        return { rows: page.map(({ body, first, last }) => ({ first, last, body })), removedTo }
      }),
    prune: (before) =>
      Effect.sync(() => {
        const old = [...sessions].filter(([, { writtenAt }]) => writtenAt < before)
        for (const [sessionId] of old) sessions.delete(sessionId)
        return old.length
      })
  }
}
