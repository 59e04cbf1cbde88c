/** Stores what was sent to sessions. */
import {
  type Added,
  type Capacity,
  type Care,
  type Entry,
  type Inbox,
  isFinished,
  type NewEntry
} from "@belay/core/Inbox"
import * as Effect from "effect/Effect"
import { Bodies, bodyColumns, type SizedRow } from "../bodies.ts"
import { requireSessionId } from "../error.ts"
import {
  countsOf,
  dueRows,
  hasKey,
  isTenant,
  keepTenants,
  limitsOf,
  openCounts,
  openMessages,
  pinnedTo,
  placeOf,
  releaseOf
} from "../inboxRow.ts"
import type { Database, Query, Row } from "./database.ts"
import { now } from "./schema.ts"

export const inboxOf = ({ address, schema: s, transaction, use }: Database): Inbox => {
  const table = `${s}.inbox`
  const due = dueRows(table)
  const pins = `${s}.pins`
  const own = `seq, session_id, key, kind, ${bodyColumns("0")}, at, tenant, status, attempts, outcome`
  const columns = `${own}, ${releaseOf("inbox", pins)}`
  const bodies = new Bodies()
  const loading = (query: Query) => ({ seq }: SizedRow) =>
    Effect.map(
      query(`SELECT body FROM ${table} WHERE seq = $1`, seq),
      ([row]) => row?.["body"] as string | undefined
    )
  // The columns are those of the table.
  const toEntry = (query: Query, row: Row) => bodies.entry(row as unknown as SizedRow, loading(query))
  const toEntries = (query: Query, rows: ReadonlyArray<Row>) =>
    bodies.entries(rows as unknown as ReadonlyArray<SizedRow>, loading(query))
  const ofFirst = (query: Query) => ([row]: ReadonlyArray<Row>) =>
    row === undefined ? Effect.undefined : toEntry(query, row)
  const find = (query: Query, sessionId: string, key: string): Effect.Effect<Entry | undefined, unknown> =>
    Effect.flatMap(
      query(`SELECT ${own} FROM ${table} WHERE session_id = $1 AND key = $2`, sessionId, JSON.stringify(key)),
      ofFirst(query)
    )
  const add = (query: Query, given: NewEntry, text: string, capacity: Capacity = {}) =>
    Effect.gen(function*(): Effect.fn.Return<Added, unknown> {
      const { at, key, kind, sessionId, tenant } = given
      const id = requireSessionId(address, sessionId)
      const limits = limitsOf(capacity, id, tenant)
      // Two that count at the same time could both find room.
      if (limits.length > 0) yield* query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", `belay inbox ${s}`)
      const known = yield* find(query, id, key)
      if (known !== undefined) return { type: "known", entry: known }
      for (const { count, limit, max, of } of limits) {
        const where = [openMessages, ...of.map(([column], index) => `${column} $${index + 1}`)].join(" AND ")
        const text = `SELECT count(${count}) AS count FROM ${table} WHERE ${where}`
        const [row] = yield* query(text, ...of.map(([, value]) => value))
        if (Number(row?.["count"]) >= max) return { type: "full", limit }
      }
      const [row] = yield* query(
        `INSERT INTO ${table} (session_id, key, kind, body, at, tenant, status, attempts)` +
          " VALUES ($1, $2, $3, $4, $5, $6, 'waiting', 0) ON CONFLICT (session_id, key) DO NOTHING RETURNING seq",
        id,
        JSON.stringify(key),
        kind,
        text,
        at,
        tenant === undefined ? null : JSON.stringify(tenant)
      )
      if (row !== undefined) {
        return { type: "added", entry: { ...given, seq: Number(row["seq"]), status: "waiting", attempts: 0 } }
      }
      // Somebody else was quicker. Unfinished entries are never removed.
      return { type: "known", entry: (yield* find(query, id, key))! }
    })
  return {
    add: Effect.fnUntraced(function*(given, capacity) {
      const text = JSON.stringify(given.body)
      // Without limits, one statement decides, so no transaction is needed.
      const added = yield* capacity === undefined
        ? use((query) => Effect.suspend(() => add(query, given, text)), { mayRepeat: true })
        : transaction((query) => Effect.suspend(() => add(query, given, text, capacity)))
      if (added.type === "added") bodies.add(added.entry, text)
      return added
    }),
    open: (sessionId) =>
      use((query) =>
        Effect.flatMap(
          query(
            `SELECT ${columns} FROM ${table} WHERE session_id = $1 AND finished_at IS NULL ORDER BY seq`,
            sessionId
          ),
          // A row that somebody has changed cannot be found by its key.
          (rows) => toEntries(query, rows.filter((row) => hasKey(row as unknown as SizedRow)))
        ), { mayRepeat: true }),
    begin: (sessionId, key) =>
      use((query) =>
        Effect.flatMap(
          query(
            `UPDATE ${table} SET status = 'begun', attempts = attempts + 1` +
              ` WHERE session_id = $1 AND key = $2 AND finished_at IS NULL RETURNING ${own}`,
            sessionId,
            JSON.stringify(key)
          ),
          ofFirst(query)
        )
      ),
    report: (sessionId, key, status, outcome) =>
      use((query) =>
        Effect.map(
          query(
            `UPDATE ${table} SET status = $3, outcome = $4, finished_at = CASE WHEN $5 THEN ${now} END` +
              " WHERE session_id = $1 AND key = $2 AND finished_at IS NULL",
            sessionId,
            JSON.stringify(key),
            status,
            JSON.stringify(outcome),
            isFinished({ status })
          ),
          () => {
            if (isFinished({ status })) bodies.finish(sessionId, JSON.stringify(key))
          }
        ), { mayRepeat: true }),
    get: (sessionId, key) => use((query) => find(query, sessionId, key), { mayRepeat: true }),
    due: ({ after = { at: -Infinity, sessionId: "" }, fair = false, limit, release, until }) =>
      use((query) =>
        Effect.map(
          query(
            `SELECT session_id AS "sessionId", min(at) AS at FROM ${table} AS one WHERE at <= $1::float8 AND ${due}` +
              ` AND ${pinnedTo(pins, "$5::text")}` +
              " GROUP BY session_id HAVING min(at) > $2::float8 OR (min(at) = $2::float8 AND session_id COLLATE " +
              "\"C\" > $3)" +
              ` ORDER BY ${fair ? `${placeOf("session_id COLLATE \"C\"")}, ` : ""}` +
              "min(at), session_id COLLATE \"C\" LIMIT $4",
            String(until),
            String(after.at),
            after.sessionId,
            limit,
            release === undefined ? null : JSON.stringify(release)
          ),
          (rows) => rows.map(({ at, sessionId }) => ({ sessionId: String(sessionId), at: Number(at) }))
        ), { mayRepeat: true }),
    now: use((query) => Effect.map(query(`SELECT ${now} AS now`), ([row]) => Number(row?.["now"])), {
      mayRepeat: true
    }),
    prune: (before) =>
      transaction((query) =>
        Effect.andThen(
          query(keepTenants(table, `${s}.sessions`, "finished_at < $1::float8"), String(before)),
          Effect.map(
            query(
              `WITH gone AS (DELETE FROM ${table} WHERE finished_at < $1::float8 AND NOT ${isTenant} RETURNING 1)` +
                " SELECT count(*) AS count FROM gone",
              String(before)
            ),
            ([row]) => Number(row?.["count"])
          )
        )
      ),
    pin: (sessionId, release) =>
      use((query) =>
        Effect.asVoid(
          release === undefined
            ? query(`DELETE FROM ${pins} WHERE session_id = $1`, sessionId)
            : query(
              `INSERT INTO ${pins} VALUES ($1, $2) ON CONFLICT (session_id) DO UPDATE SET release = $2`,
              requireSessionId(address, sessionId),
              JSON.stringify(release)
            )
        ), { mayRepeat: true }),
    care: careOf(transaction, use, s, columns, toEntries)
  }
}

const careOf = (
  transaction: Database["transaction"],
  use: Database["use"],
  s: string,
  columns: string,
  toEntries: (query: Query, rows: ReadonlyArray<Row>) => Effect.Effect<ReadonlyArray<Entry>, unknown>
): Care => {
  const table = `${s}.inbox`
  const isDead = "session_id = $1 AND key = $2 AND status = 'dead'"
  const dead = `WHERE ${isDead} RETURNING 1`
  return {
    counts: use(
      (query) =>
        Effect.map(query(`SELECT ${openCounts} FROM ${table} WHERE ${openMessages} GROUP BY status`), countsOf),
      {
        mayRepeat: true
      }
    ),
    list: ({ after = 0, limit, status }) =>
      use((query) =>
        Effect.flatMap(
          query(
            `SELECT ${columns} FROM ${table} WHERE status = $1 AND seq > $2 ORDER BY seq LIMIT $3`,
            status,
            after,
            limit
          ),
          (rows) => toEntries(query, rows)
        ), { mayRepeat: true }),
    revive: (sessionId, key) =>
      use((query) => {
        const set = "status = 'waiting', attempts = 0, outcome = NULL, finished_at = NULL"
        return Effect.map(
          query(`UPDATE ${table} SET ${set} ${dead}`, sessionId, JSON.stringify(key)),
          ({ length }) => length > 0
        )
      }),
    drop: (sessionId, key) =>
      transaction((query) =>
        Effect.andThen(
          query(keepTenants(table, `${s}.sessions`, isDead), sessionId, JSON.stringify(key)),
          Effect.map(query(`DELETE FROM ${table} ${dead}`, sessionId, JSON.stringify(key)), ({ length }) => length > 0)
        )
      )
  }
}
