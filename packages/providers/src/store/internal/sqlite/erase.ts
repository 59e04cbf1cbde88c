/** Erases what the file has about sessions, down to the bytes. */
import { anonymousAccount, continues, type Erased, type Erasure, type Target } from "@belay/core/Erasure"
import * as Effect from "effect/Effect"
import { erasedHashes } from "../erased.ts"
import type { StoreError } from "../error.ts"
import { isAbout } from "../isAbout.ts"
import { attempt, sqliteError } from "./attempt.ts"
import type { Database } from "./database.ts"

/** How often the file is tried to be compacted while others read it, and how long to wait in between. */
const compactings = 20
const compactingMs = 100

/** The columns that have the id of a session. */
const columns = ["sessions.id", "artifacts.session_id", "inbox.session_id", "event_logs.session_id"]

export const erasureOf = (database: Database): Erasure => {
  const { path, read, write } = database
  return {
    find: (target) => attempt(path, () => read(() => [...find(database, target)].sort())),
    erase: (sessions, names) =>
      Effect.flatMap(
        attempt(path, () => write(() => eraseRows(database, sessions, names))),
        (counts) => Effect.map(compact(database, compactings, false), (isCompacted) => ({ ...counts, isCompacted }))
      )
  }
}

const find = (database: Database, target: Target): ReadonlySet<string> => {
  if ("session" in target) return continuing(database, target.session)
  const found = new Set(beginning(database, target.prefix))
  const text = "SELECT DISTINCT session_id AS id FROM inbox WHERE tenant = ?"
  for (const { id } of database.sql(text).all(JSON.stringify(target.tenant))) {
    for (const one of continuing(database, String(id))) found.add(one)
  }
  return found
}

const continuing = (database: Database, session: string): ReadonlySet<string> =>
  new Set(beginning(database, session).filter((id) => continues(session, id)))

/** The ids that begin with a text. Texts are compared by their bytes, and no byte of UTF-8 is 255. */
const beginning = ({ sql }: Database, begin: string): ReadonlyArray<string> =>
  columns.flatMap((place) => {
    const [table, column] = place.split(".")
    const text = `SELECT DISTINCT ${column} AS id FROM ${table} WHERE ${column} >= ? AND ${column} < ? || x'ff'`
    return sql(text).all(begin, begin).map(({ id }) => String(id))
  })

const eraseRows = (
  { sql }: Database,
  sessions: ReadonlyArray<string>,
  names: ReadonlyArray<string>
): Omit<Erased, "isCompacted"> => {
  const count = { sessions: 0, messages: 0, records: 0, artifacts: 0, entries: 0, events: 0, accounts: 0, approvals: 0 }
  const remove = (text: string, id: string): number => Number(sql(text).run(id).changes)
  const own = "(SELECT key FROM sessions WHERE id = ?)"
  for (const id of sessions) {
    count.messages += remove(`DELETE FROM messages WHERE session IN ${own}`, id)
    count.records += remove(`DELETE FROM records WHERE session IN ${own}`, id)
    count.artifacts += remove("DELETE FROM artifacts WHERE session_id = ?", id)
    count.entries += remove("DELETE FROM inbox WHERE session_id = ?", id)
    count.events += remove("DELETE FROM events WHERE session_id = ?", id)
    remove("DELETE FROM event_logs WHERE session_id = ?", id)
    remove("DELETE FROM pins WHERE session_id = ?", id)
    count.sessions += remove("DELETE FROM sessions WHERE id = ?", id)
  }
  for (const hash of erasedHashes(sessions)) sql("INSERT INTO erased VALUES (?) ON CONFLICT DO NOTHING").run(hash)
  for (const { id } of sql("SELECT id FROM accounts").all()) {
    const name = anonymousAccount(String(JSON.parse(String(id))), names)
    if (name === undefined) continue
    sql("UPDATE accounts SET id = ? WHERE id = ?").run(JSON.stringify(name), String(id))
    count.accounts++
  }
  for (const { key, rule } of sql("SELECT key, rule FROM rules").all()) {
    if (isAbout(String(rule), names)) {
      count.approvals += Number(sql("DELETE FROM rules WHERE key = ?").run(key!).changes)
    }
  }
  return count
}

/** Writes the file anew without what was deleted, and empties its log. Returns false if others read it for too long. */
const compact = (database: Database, left: number, isWritten: boolean): Effect.Effect<boolean, StoreError> =>
  Effect.suspend(() => {
    const { impatiently, path, sql } = database
    let hasVacuumed = isWritten
    try {
      const done = impatiently(() => {
        if (!hasVacuumed) sql("VACUUM").run()
        hasVacuumed = true
        return sql("PRAGMA wal_checkpoint(TRUNCATE)").get()
      })
      if (Number(done?.["busy"]) === 0) return Effect.succeed(true)
    } catch (error) {
      const failure = sqliteError(path, error)
      if (failure === undefined) return Effect.die(error)
      if (failure.problem !== "busy") return Effect.fail(failure)
    }
    return left > 1
      ? Effect.andThen(Effect.sleep(compactingMs), compact(database, left - 1, hasVacuumed))
      : Effect.succeed(false)
  })
