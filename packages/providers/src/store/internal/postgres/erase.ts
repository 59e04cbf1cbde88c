/** Erases what the tables have about sessions. */
import { anonymousAccount, continues, type Erased, type Erasure, rootOf, type Target } from "@belay/core/Erasure"
import * as Effect from "effect/Effect"
import { erasedHash, erasedHashes } from "../erased.ts"
import { isAbout } from "../isAbout.ts"
import type { Database, Query } from "./database.ts"

/** The columns that have the id of a session. */
const columns = ["sessions.id", "artifacts.session_id", "inbox.session_id", "event_logs.session_id"]

export const erasureOf = ({ schema: s, transaction, use }: Database): Erasure => ({
  find: (target) => use((query) => find(query, s, target), { mayRepeat: true }),
  erase: (sessions, names) => transaction((query) => erase(query, s, sessions, names))
})

const find = Effect.fnUntraced(function*(query: Query, s: string, target: Target) {
  const found = new Set("session" in target ? [] : yield* beginning(query, s, target.prefix))
  const text = `SELECT DISTINCT session_id AS id FROM ${s}.inbox WHERE tenant = $1`
  const sessions = "session" in target
    ? [target.session]
    : (yield* query(text, JSON.stringify(target.tenant))).map(({ id }) => String(id))
  for (const session of sessions) {
    for (const id of yield* beginning(query, s, session)) if (continues(session, id)) found.add(id)
  }
  return [...found].sort()
})

/** The ids that begin with a text. */
const beginning = Effect.fnUntraced(function*(query: Query, s: string, begin: string) {
  const found: Array<string> = []
  for (const place of columns) {
    const [table, column] = place.split(".")
    const text = `SELECT DISTINCT ${column} AS id FROM ${s}.${table} WHERE starts_with(${column}, $1)`
    for (const { id } of yield* query(text, begin)) found.push(String(id))
  }
  return found
})

const erase = Effect.fnUntraced(function*(
  query: Query,
  s: string,
  sessions: ReadonlyArray<string>,
  names: ReadonlyArray<string>
): Effect.fn.Return<Erased, unknown> {
  const remove = (from: string) =>
    Effect.map(query(`DELETE FROM ${s}.${from} = ANY($1::text[]) RETURNING 1`, sessions), (rows) => rows.length)
  const ofSession = (table: string) =>
    Effect.map(
      query(
        `DELETE FROM ${s}.${table} USING ${s}.sessions WHERE session = sessions.key AND id = ANY($1::text[]) ` +
          "RETURNING 1",
        sessions
      ),
      (rows) => rows.length
    )
  // Waits for those who are writing to these tables, and lets others wait. They see then that the session was erased.
  yield* query(`LOCK TABLE ${s}.artifacts, ${s}.event_logs IN SHARE ROW EXCLUSIVE MODE`)
  const messages = yield* ofSession("messages")
  const records = yield* ofSession("records")
  const artifacts = yield* remove("artifacts WHERE session_id")
  const entries = yield* remove("inbox WHERE session_id")
  const events = yield* remove("events WHERE session_id")
  yield* remove("event_logs WHERE session_id")
  yield* remove("pins WHERE session_id")
  yield* query(
    `INSERT INTO ${s}.erased SELECT unnest($1::text[]) ON CONFLICT DO NOTHING`,
    erasedHashes(sessions)
  )
  const counts = { messages, records, artifacts, entries, events, sessions: yield* remove("sessions WHERE id") }
  let accounts = 0
  for (const { id } of yield* query(`SELECT id FROM ${s}.accounts`)) {
    const name = anonymousAccount(String(JSON.parse(String(id))), names)
    if (name === undefined) continue
    yield* query(`UPDATE ${s}.accounts SET id = $1 WHERE id = $2`, JSON.stringify(name), id)
    accounts++
  }
  const rules = yield* query(`SELECT key, rule FROM ${s}.rules`)
  const about = rules.filter(({ rule }) => isAbout(String(rule), names)).map(({ key }) => String(key))
  yield* query(`DELETE FROM ${s}.rules WHERE key = ANY($1::bigint[])`, about)
  return { ...counts, accounts, approvals: about.length, isCompacted: true }
})

/** Whether a session was erased and has not begun again. The parameters are those of `erasedOf`. */
export const isErased = (s: string, hash: string, root: string): string =>
  `EXISTS (SELECT FROM ${s}.erased WHERE hash = ${hash})` +
  ` AND NOT EXISTS (SELECT FROM ${s}.sessions AS begun WHERE begun.id = ${root})`

/** Returns the parameters of `isErased` for a session. */
export const erasedOf = (id: string): readonly [string, string] => [erasedHash(id), rootOf(id)]
