/** Stores sessions. */
import * as RunState from "@belay/core/RunState"
import {
  type Commit,
  conflict,
  type SessionInfo,
  type SessionStore,
  stateFromStore,
  stateToStore,
  statusOf
} from "@belay/core/SessionStore"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { isFirst } from "../erased.ts"
import { parse, requireSessionId, storeError } from "../error.ts"
import { isTenant } from "../inboxRow.ts"
import { clearArtifacts, copyArtifacts } from "./artifacts.ts"
import { attempt } from "./attempt.ts"
import { type Database, one } from "./database.ts"
import { clearEvents } from "./events.ts"
import { fairly } from "./fairly.ts"
import { isErased } from "./isErased.ts"
import { loadSession } from "./loadSession.ts"

/** The operations on sessions. */
export type Sessions = Required<Omit<SessionStore, "artifacts">>

export const sessionsOf = (database: Database): Sessions => {
  const { path, read, sql, write } = database
  const at = <A>(act: (time: number) => A) =>
    Effect.flatMap(Clock.currentTimeMillis, (time) => attempt(path, () => act(time)))
  return {
    commit: (step) =>
      Effect.flatMap(textsOf(step), (texts) => fairly(at((time) => write(() => keep(database, step, texts, time))))),
    load: (id) =>
      Effect.flatMap(
        fairly(loadSession(database, id)),
        (state) => state === undefined ? Effect.undefined : RunState.decode(stateFromStore(state))
      ),
    revision: (id) =>
      attempt(
        path,
        () => one<number>(sql("SELECT revision FROM sessions WHERE id = ?"), requireSessionId(database.path, id))
      ),
    list: ({ before = Infinity, ids, limit = 100 } = {}) =>
      attempt(path, () =>
        sql(
          "SELECT id, revision, turn AS turnNumber, messages, status, created_at AS createdAt, updated_at AS " +
            "updatedAt" +
            ` FROM sessions WHERE updated_at < ?${
              ids === undefined ? "" : " AND id IN (SELECT value FROM json_each(?))"
            }` +
            " ORDER BY updated_at DESC LIMIT ?"
        ).all(
          before,
          ...(ids === undefined ? [] : [JSON.stringify(ids)]),
          Math.min(Math.max(0, Math.floor(limit)) || 0, 2 ** 31)
        ).map((row): SessionInfo =>
          // The row has the columns of the SELECT above.
          ({ ...row }) as never
        )),
    fork: (id, to) =>
      at((time) =>
        write(() => {
          const [from, target] = [
            keyOf(database, requireSessionId(database.path, id)),
            requireSessionId(database.path, to)
          ]
          if (from === undefined) throw storeError(path, "missing", `there is no session ${id} to fork`)
          if (keyOf(database, target) !== undefined) {
            throw storeError(path, "taken", `there is a session ${to} already: fork to another id`)
          }
          const state = {
            ...Object(parse(database.path, one<string>(sql("SELECT state FROM sessions WHERE key = ?"), from)!)),
            sessionId: to
          }
          const key = sql(
            "INSERT INTO sessions (id, revision, turn, status, messages, state, created_at, updated_at)" +
              " SELECT ?, revision, turn, status, messages, ?, ?, ? FROM sessions WHERE key = ?"
          ).run(to, JSON.stringify(state), time, moment(database, time), from).lastInsertRowid
          sql("INSERT INTO messages SELECT ?, position, message FROM messages WHERE session = ?").run(key, from)
          sql("INSERT INTO records (session, record) SELECT ?, record FROM records WHERE session = ? ORDER BY key").run(
            key,
            from
          )
          copyArtifacts(database, id, to)
        })
      ),
    remove: (id) =>
      attempt(path, () =>
        write(() => {
          clearArtifacts(database, requireSessionId(database.path, id))
          clearEvents(database, id)
          sql("DELETE FROM pins WHERE session_id = ?").run(id)
          sql(`DELETE FROM inbox WHERE session_id = ? AND ${isTenant}`).run(id)
          return sql("DELETE FROM sessions WHERE id = ?").run(id).changes > 0
        })),
    records: (id) =>
      attempt(path, () =>
        read(() => {
          const key = keyOf(database, requireSessionId(database.path, id))
          if (key === undefined) return []
          return sql("SELECT record FROM records WHERE session = ? ORDER BY key").all(key).map((row) =>
            parse(database.path, String(row["record"]))
          )
        }))
  }
}

const keyOf = ({ sql }: Database, id: string): number | undefined =>
  one<number>(sql("SELECT key FROM sessions WHERE id = ?"), id)

/**
 * Returns a time that is later than every change before, so that the list of sessions has an order and can be read in
 * pages.
 */
const moment = ({ sql }: Database, time: number): number => {
  const last = one<number | null>(sql("SELECT max(updated_at) FROM sessions")) ?? 0
  return Math.max(time, last + 0.001)
}

/** The texts of a commit. */
interface Texts {
  readonly state: string
  readonly messages: ReadonlyArray<string>
}

/** After how many characters of a commit other work is done. */
const largeLength = 1_000_000

/** Writes the state and the messages as JSON, large ones in turns of the event loop of their own. */
const textsOf = (step: Commit): Effect.Effect<Texts> =>
  Effect.suspend(() => {
    const { messages } = step
    const text = JSON.stringify(stateToStore(step))
    const texts: Array<string> = []
    const next = (length: number): Effect.Effect<Texts> =>
      Effect.suspend(() => {
        let written = length
        while (texts.length < messages.length && written < largeLength) {
          const one = JSON.stringify(messages[texts.length])
          texts.push(one)
          written += one.length
        }
        return texts.length < messages.length || written >= largeLength
          ? Effect.andThen(Effect.yieldNow, next(0))
          : Effect.succeed({ state: text, messages: texts })
      })
    return next(text.length)
  })

const keep = (
  database: Database,
  { from, records, revision, sessionId, snapshot, state }: Commit,
  texts: Texts,
  time: number
): void => {
  const { sql } = database
  const kept = sql("SELECT key, revision, messages FROM sessions WHERE id = ?").get(
    requireSessionId(database.path, sessionId)
  ) as
    | { readonly key: number; readonly revision: number; readonly messages: number }
    | undefined
  if (kept !== undefined && kept.revision !== revision - 1) throw conflict(sessionId, revision, kept.revision)
  if (kept === undefined && !isFirst(sessionId, revision) && isErased(database, sessionId)) {
    throw conflict(sessionId, revision, 0)
  }
  const there = kept?.messages ?? 0
  // If the session was removed in the meantime, the messages before this step are gone, so the whole conversation is
  // written.
  const [start, added] = from >= 0 && from <= there
    ? [from, texts.messages]
    : [0, snapshot().messages.map((message) => JSON.stringify(message))]
  const values = [revision, state.turnNumber, statusOf(state), start + added.length, texts.state] as const
  const changed = moment(database, time)
  const key = kept?.key ?? sql(
    "INSERT INTO sessions (id, revision, turn, status, messages, state, created_at, updated_at) VALUES (?, ?, ?, " +
      "?, ?, ?, ?, ?)"
  ).run(sessionId, ...values, time, changed).lastInsertRowid
  if (kept !== undefined) {
    sql("UPDATE sessions SET revision = ?, turn = ?, status = ?, messages = ?, state = ?, updated_at = ? WHERE key = ?")
      .run(...values, changed, key)
  }
  if (start < there) sql("DELETE FROM messages WHERE session = ? AND position >= ?").run(key, start)
  const add = sql("INSERT INTO messages (session, position, message) VALUES (?, ?, ?)")
  for (const [index, message] of added.entries()) add.run(key, start + index, message)
  const note = sql("INSERT INTO records (session, record) VALUES (?, ?)")
  for (const record of records) note.run(key, JSON.stringify(record) ?? "null")
}
