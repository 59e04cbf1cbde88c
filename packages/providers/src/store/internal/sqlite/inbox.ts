/** Stores what was sent to sessions. */
import { type Added, type Care, type Entry, type Inbox, isFinished } from "@belay/core/Inbox"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Bodies, bodyColumns, largeBytes, type SizedRow } from "../bodies.ts"
import { requireSessionId } from "../error.ts"
import {
  countsOf,
  dueRows,
  hasKey,
  isTenant,
  keepTenants,
  limitsOf,
  lostKey,
  openCounts,
  openMessages,
  pinnedTo,
  placeOf,
  releaseOf
} from "../inboxRow.ts"
import { attempt } from "./attempt.ts"
import { claimOf } from "./claim.ts"
import { type Database, one } from "./database.ts"
import { fairly } from "./fairly.ts"

/** An expression for something of the body that is kept in its own table, because a change of a row writes it whole. */
const ofLarge = (what: string): string => `(SELECT ${what} FROM bodies AS large WHERE large.entry = seq)`

/** Numbers that JavaScript cannot have come as others, so that the row can be read. */
const columns = "CAST(seq AS REAL) AS seq, session_id, key, kind, " +
  `${bodyColumns(`coalesce(${ofLarge("octet_length(large.body)")}, 0)`)}, at, tenant, status, ` +
  "CAST(attempts AS REAL) AS attempts, outcome"

const release = releaseOf("inbox", "pins")

export const inboxOf = (database: Database): Inbox => {
  const { path, sql, write } = database
  const bodies = new Bodies()
  const act = <A>(operation: () => A) => fairly(attempt(path, operation))
  const load = ({ key, session_id }: SizedRow) =>
    act(() =>
      one<string>(
        sql(`SELECT coalesce(${ofLarge("large.body")}, body) FROM inbox WHERE session_id = ? AND key = ?`),
        session_id,
        key
      )
    )
  const toEntries = (rows: ReadonlyArray<SizedRow>) => bodies.entries(rows, load)
  const toEntry = (row: SizedRow | undefined) => row === undefined ? Effect.undefined : bodies.entry(row, load)
  const find = (sessionId: string, key: string): SizedRow | undefined =>
    // The columns are those of the table.
    sql(`SELECT ${columns} FROM inbox WHERE session_id = ? AND key = ?`).get(sessionId, JSON.stringify(key)) as
      | SizedRow
      | undefined
  const due = dueRows("inbox")
  return {
    add: Effect.fnUntraced(function*(given, capacity = {}) {
      const { at, body, key, kind, sessionId, tenant } = given
      const text = JSON.stringify(body)
      const isLarge = text.length > largeBytes
      if (isLarge) yield* Effect.yieldNow
      const added = yield* act(() =>
        write((): Added | SizedRow => {
          const id = requireSessionId(path, sessionId)
          const known = find(id, key)
          if (known !== undefined) return known
          for (const { count, limit, max, of } of limitsOf(capacity, id, tenant)) {
            const where = [openMessages, ...of.map(([column]) => `${column} ?`)].join(" AND ")
            const found = one(sql(`SELECT count(${count}) FROM inbox WHERE ${where}`), ...of.map(([, value]) => value))
            if (Number(found) >= max) return { type: "full", limit }
          }
          const { lastInsertRowid } = sql(
            "INSERT INTO inbox (session_id, key, kind, body, at, tenant, status, attempts)" +
              " VALUES (?, ?, ?, ?, ?, ?, 'waiting', 0)"
          ).run(
            id,
            JSON.stringify(key),
            kind,
            isLarge ? "" : text,
            at,
            tenant === undefined ? null : JSON.stringify(tenant)
          )
          if (isLarge) sql("INSERT INTO bodies VALUES (?, ?)").run(lastInsertRowid, text)
          return { type: "added", entry: { ...given, seq: Number(lastInsertRowid), status: "waiting", attempts: 0 } }
        })
      )
      if (!("type" in added)) return { type: "known", entry: yield* bodies.entry(added, load) }
      if (added.type === "added") bodies.add(added.entry, text)
      return added
    }),
    open: (sessionId) =>
      Effect.flatMap(
        act(() => {
          const text =
            `SELECT ${columns}, ${release} FROM inbox WHERE session_id = ? AND finished_at IS NULL ORDER BY seq`
          // The columns are those of the table.
          const rows = sql(text).all(sessionId) as unknown as ReadonlyArray<SizedRow>
          const lost = rows.filter((row) => !hasKey(row))
          for (const { key } of lost) {
            sql("UPDATE inbox SET status = 'dead', outcome = ?, finished_at = 0 WHERE session_id = ? AND key = ?")
              .run(lostKey, sessionId, key)
          }
          return rows.filter(hasKey)
        }),
        toEntries
      ),
    begin: (sessionId, key) =>
      Effect.flatMap(
        act(() =>
          write(() => {
            const { changes } = sql(
              "UPDATE inbox SET status = 'begun', attempts = attempts + 1" +
                " WHERE session_id = ? AND key = ? AND finished_at IS NULL"
            ).run(sessionId, JSON.stringify(key))
            return changes === 0 ? undefined : find(sessionId, key)
          })
        ),
        toEntry
      ),
    report: (sessionId, key, status, outcome) =>
      Effect.flatMap(Clock.currentTimeMillis, (time) =>
        act(() =>
          write(() => {
            if (isFinished({ status })) bodies.finish(sessionId, JSON.stringify(key))
            sql(
              "UPDATE inbox SET status = ?, outcome = ?, finished_at = ?" +
                " WHERE session_id = ? AND key = ? AND finished_at IS NULL"
            ).run(status, JSON.stringify(outcome), isFinished({ status }) ? time : null, sessionId, JSON.stringify(key))
          })
        )),
    get: (sessionId, key) => Effect.flatMap(act(() => find(sessionId, key)), toEntry),
    due: ({ after = { at: -Infinity, sessionId: "" }, fair = false, limit, release, until }) =>
      attempt(path, () =>
        sql(
          `SELECT session_id, min(at) AS first FROM inbox AS one WHERE at <= ?1 AND ${due}` +
            ` AND ${pinnedTo("pins", "?5")} GROUP BY session_id` +
            " HAVING first > ?2 OR (first = ?2 AND session_id > ?3)" +
            ` ORDER BY ${fair ? `${placeOf("session_id")}, ` : ""}first, session_id LIMIT ?4`
        ).all(until, after.at, after.sessionId, limit, release === undefined ? null : JSON.stringify(release))
          .map((row) => ({ sessionId: String(row["session_id"]), at: Number(row["first"]) }))),
    prune: (before) =>
      attempt(path, () =>
        write(() => {
          sql(keepTenants("inbox", "sessions", "finished_at < ?")).run(before)
          return Number(sql(`DELETE FROM inbox WHERE finished_at < ? AND NOT ${isTenant}`).run(before).changes)
        })),
    pin: (sessionId, release) =>
      attempt(path, () =>
        write(() => {
          if (release === undefined) sql("DELETE FROM pins WHERE session_id = ?").run(sessionId)
          else {
            sql("INSERT INTO pins VALUES (?1, ?2) ON CONFLICT (session_id) DO UPDATE SET release = ?2")
              .run(requireSessionId(path, sessionId), JSON.stringify(release))
          }
        })),
    ...(path === ":memory:" ? {} : { claim: claimOf(path) }),
    care: careOf(database, toEntries)
  }
}

const careOf = (
  { path, sql, write }: Database,
  toEntries: (rows: ReadonlyArray<SizedRow>) => Effect.Effect<ReadonlyArray<Entry>, unknown>
): Care => {
  const isDead = "session_id = ? AND key = ? AND status = 'dead'"
  const dead = `WHERE ${isDead}`
  return {
    counts: attempt(
      path,
      () => countsOf(sql(`SELECT ${openCounts} FROM inbox WHERE ${openMessages} GROUP BY status`).all())
    ),
    list: ({ after = 0, limit, status }) =>
      Effect.flatMap(
        attempt(path, () => {
          const rows = sql(`SELECT ${columns}, ${release} FROM inbox WHERE status = ? AND seq > ? ORDER BY seq LIMIT ?`)
            .all(status, after, limit)
          // The columns are those of the table.
          return rows as unknown as ReadonlyArray<SizedRow>
        }),
        toEntries
      ),
    revive: (sessionId, key) =>
      attempt(path, () =>
        write(() => {
          const set = "status = 'waiting', attempts = 0, outcome = NULL, finished_at = NULL"
          return sql(`UPDATE inbox SET ${set} ${dead}`).run(sessionId, JSON.stringify(key)).changes > 0
        })),
    drop: (sessionId, key) =>
      attempt(path, () =>
        write(() => {
          sql(keepTenants("inbox", "sessions", isDead)).run(sessionId, JSON.stringify(key))
          return sql(`DELETE FROM inbox ${dead}`).run(sessionId, JSON.stringify(key)).changes > 0
        }))
  }
}
