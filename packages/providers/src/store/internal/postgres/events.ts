/** Stores the events of the last turn of each session. */
import type { EventBatch, EventLog, EventRow } from "@belay/core/EventLog"
import * as Effect from "effect/Effect"
import { parse, requireSessionId } from "../error.ts"
import type { Database, Query, Row } from "./database.ts"
import { erasedOf, isErased } from "./erase.ts"
import { now } from "./schema.ts"

export const eventsOf = ({ address, schema: s, transaction, use }: Database): EventLog => {
  const rowOf = ({ body, first, last }: Row): EventRow => ({
    first: Number(first),
    last: Number(last),
    // Only `write` writes it.
    body: parse(address, String(body)) as EventRow["body"]
  })
  return {
    write: (batches, { keepMs }) =>
      transaction((query) =>
        Effect.gen(function*() {
          for (const { sessionId } of batches) requireSessionId(address, sessionId)
          // Batches are sorted, so that two writers do not wait for each other.
          const sorted = batches.toSorted((a, b) => a.sessionId < b.sessionId ? -1 : 1)
          if (sorted.length === 0) return
          yield* query(
            headsOf(s),
            sorted.map(({ sessionId }) => sessionId),
            sorted.map(({ rows: [{ first }] }) => first),
            sorted.map(({ begins = 0 }) => begins),
            keepMs
          )
          // Turns that began before their session was erased. Nothing is erased any more before this is committed,
          // because the heads are written.
          const gone = yield* erasedIds(query, s, sorted)
          for (const sessionId of gone) yield* clearEvents(query, s, sessionId)
          const rows = sorted.filter(({ sessionId }) => !gone.has(sessionId)).flatMap(({ rows, sessionId }) =>
            rows.map((row) => ({ sessionId, ...row }))
          )
          yield* query(
            `INSERT INTO ${s}.events (session_id, first, last, body, written_at) SELECT given.*, ${now}` +
              " FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[]) AS given ON CONFLICT DO NOTHING",
            rows.map(({ sessionId }) => sessionId),
            rows.map(({ first }) => first),
            rows.map(({ last }) => last),
            rows.map(({ body }) => JSON.stringify(body))
          )
        })
      ),
    read: (sessionId, { after, limit }) =>
      use((query) =>
        Effect.map(
          query(
            `SELECT removed_to AS "removedTo", first, last, body FROM ${s}.event_logs AS log LEFT JOIN LATERAL (` +
              `SELECT first, last, body FROM ${s}.events WHERE session_id = log.session_id` +
              " AND last > coalesce($2::bigint, log.turn_first - 1) ORDER BY last LIMIT $3" +
              ") AS one ON true WHERE session_id = $1 ORDER BY last",
            sessionId,
            after ?? null,
            limit
          ),
          (rows) => ({
            removedTo: Number(rows[0]?.["removedTo"] ?? 0),
            rows: rows.filter(({ last }) => last !== null).map(rowOf)
          })
        ), { mayRepeat: true }),
    prune: (before) =>
      use((query) =>
        Effect.map(
          query(
            `WITH gone AS (DELETE FROM ${s}.event_logs WHERE written_at < $1::float8 RETURNING session_id),` +
              ` rows AS (DELETE FROM ${s}.events USING gone WHERE events.session_id = gone.session_id)` +
              " SELECT count(*) AS count FROM gone",
            String(before)
          ),
          ([row]) => Number(row?.["count"])
        )
      )
  }
}

/** Returns the sessions of some batches that were erased and have not begun again. */
const erasedIds = (query: Query, s: string, batches: ReadonlyArray<EventBatch>) => {
  const ids = batches.map(({ sessionId }) => sessionId)
  const [hashes, roots] = [ids.map((id) => erasedOf(id)[0]), ids.map((id) => erasedOf(id)[1])]
  const text = "SELECT id FROM unnest($1::text[], $2::text[], $3::text[]) AS one (id, hash, root)" +
    ` WHERE ${isErased(s, "one.hash", "one.root")}`
  return Effect.map(
    query(text, ids, hashes, roots),
    (rows) => new Set(rows.map(({ id }) => String(id)))
  )
}

/** Removes old rows where turns begin, and keeps the number of the last event that was removed. */
const headsOf = (s: string): string => `
  WITH given AS (
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS given (session_id, first, begins)
  ), gone AS (
    DELETE FROM ${s}.events USING given
    WHERE events.session_id = given.session_id AND last < given.begins AND written_at <= ${now} - $4::float8
    RETURNING events.session_id, last
  )
  INSERT INTO ${s}.event_logs AS log (session_id, removed_to, turn_first, written_at)
  SELECT session_id, coalesce(
    greatest(
      (SELECT removed_to FROM ${s}.event_logs AS known WHERE known.session_id = given.session_id),
      (SELECT max(last) FROM gone WHERE gone.session_id = given.session_id)
    ),
    first - 1
  ), begins, ${now} FROM given
  ON CONFLICT (session_id) DO UPDATE SET removed_to = greatest(log.removed_to, excluded.removed_to),
    turn_first = greatest(log.turn_first, excluded.turn_first), written_at = excluded.written_at`

/** Removes the events of a session. */
export const clearEvents = (query: Query, s: string, sessionId: string): Effect.Effect<unknown, unknown> =>
  Effect.andThen(
    query(`DELETE FROM ${s}.events WHERE session_id = $1`, sessionId),
    query(`DELETE FROM ${s}.event_logs WHERE session_id = $1`, sessionId)
  )
