/** Stores the events of the last turn of each session. */
import type { EventBatch, EventLog, EventRow } from "@belay/core/EventLog"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { parse, requireSessionId } from "../error.ts"
import { attempt } from "./attempt.ts"
import { type Database, one } from "./database.ts"
import { isErased } from "./isErased.ts"

export const eventsOf = (database: Database): EventLog => {
  const { path, read, sql, write } = database
  const rowOf = ({ body, first, last }: { readonly [column: string]: unknown }): EventRow => ({
    first: Number(first),
    last: Number(last),
    // Only `write` writes it.
    body: parse(path, String(body)) as EventRow["body"]
  })
  return {
    write: (batches, { keepMs }) =>
      Effect.flatMap(Clock.currentTimeMillis, (time) =>
        attempt(path, () =>
          write(() => {
            for (const batch of batches) add(database, batch, time, time - keepMs)
          }))),
    read: (sessionId, { after, limit }) =>
      attempt(path, () =>
        read(() => {
          const head = sql("SELECT removed_to, turn_first FROM event_logs WHERE session_id = ?").get(sessionId)
          const from = after ?? Number(head?.["turn_first"] ?? 0) - 1
          return {
            removedTo: Number(head?.["removed_to"] ?? 0),
            rows: sql("SELECT first, last, body FROM events WHERE session_id = ? AND last > ? ORDER BY last LIMIT ?")
              .all(sessionId, from, limit).map(rowOf)
          }
        })),
    prune: (before) =>
      attempt(path, () =>
        write(() => {
          sql("DELETE FROM events WHERE session_id IN (SELECT session_id FROM event_logs WHERE written_at < ?)")
            .run(before)
          return Number(sql("DELETE FROM event_logs WHERE written_at < ?").run(before).changes)
        }))
  }
}

const add = (
  database: Database,
  { begins = 0, rows, sessionId }: EventBatch,
  time: number,
  before: number
): void => {
  const { path, sql } = database
  const id = requireSessionId(path, sessionId)
  // A turn that began before its session was erased.
  if (isErased(database, id)) return
  const old = "session_id = ? AND last < ? AND written_at <= ?"
  const removed = begins === 0
    ? 0
    : one<number | null>(sql(`SELECT max(last) FROM events WHERE ${old}`), id, begins, before) ?? 0
  if (removed > 0) sql(`DELETE FROM events WHERE ${old}`).run(id, begins, before)
  sql(
    "INSERT INTO event_logs (session_id, removed_to, turn_first, written_at) VALUES (?, ?, ?, ?)" +
      " ON CONFLICT (session_id) DO UPDATE SET removed_to = max(removed_to, ?)," +
      " turn_first = max(turn_first, excluded.turn_first), written_at = excluded.written_at"
  ).run(id, rows[0].first - 1, begins, time, removed)
  const insert = sql(
    "INSERT INTO events (session_id, first, last, body, written_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
  )
  for (const { body, first, last } of rows) insert.run(id, first, last, JSON.stringify(body), time)
}

/** Removes the events of a session. */
export const clearEvents = ({ sql }: Database, sessionId: string): void => {
  sql("DELETE FROM events WHERE session_id = ?").run(sessionId)
  sql("DELETE FROM event_logs WHERE session_id = ?").run(sessionId)
}
