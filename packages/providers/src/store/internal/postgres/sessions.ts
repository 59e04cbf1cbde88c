/** Stores sessions. A commit is one statement and one round trip. */
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
import * as Effect from "effect/Effect"
import { isFirst } from "../erased.ts"
import { parse, requireSessionId, storeError } from "../error.ts"
import { isTenant } from "../inboxRow.ts"
import { clearArtifacts, copyArtifacts } from "./artifacts.ts"
import type { Act, Database, Query } from "./database.ts"
import { erasedOf, isErased } from "./erase.ts"
import { clearEvents } from "./events.ts"
import { now } from "./schema.ts"

/** The operations on sessions. */
export type Sessions = Required<Omit<SessionStore, "artifacts">>

export const sessionsOf = (database: Database): Sessions => {
  const { address, schema: s, transaction, use } = database
  const commit = commitStatement(s)
  /** Reads may be repeated after the connection was lost. */
  const read = <A>(id: string, act: (query: Query, id: string) => Effect.Effect<A, unknown>) =>
    use((query) => Effect.suspend(() => act(query, requireSessionId(address, id))), { mayRepeat: true })
  return {
    commit: (step) => {
      // Tells whether a commit whose reply was lost is this one.
      const token = crypto.randomUUID()
      return use((query) => keep(query, s, commit, address, step, token), { mayRepeat: true })
    },
    load: (id) =>
      Effect.flatMap(
        read(id, (query) =>
          Effect.map(
            query(
              `SELECT state, messages AS count, ARRAY(SELECT message FROM ${s}.messages WHERE session = key ` +
                "ORDER BY position)" +
                ` AS messages FROM ${s}.sessions WHERE id = $1`,
              id
            ),
            ([row]) => row === undefined ? undefined : stateOf(address, id, row as unknown as Stored)
          )),
        (state) => state === undefined ? Effect.undefined : RunState.decode(stateFromStore(state))
      ),
    revision: (id) =>
      read(id, (query) =>
        Effect.map(
          query(`SELECT revision FROM ${s}.sessions WHERE id = $1`, id),
          ([row]) => row?.["revision"] as number | undefined
        )),
    list: ({ before = Infinity, ids, limit = 100 } = {}) =>
      use((query) =>
        Effect.map(
          // Sessions that were changed at the same time stay together, so that pages leave out none.
          query(
            `SELECT id, revision, turn AS "turnNumber", messages, status, created_at AS "createdAt",` +
              ` updated_at AS "updatedAt" FROM ${s}.sessions WHERE updated_at < $1::float8` +
              (ids === undefined ? "" : " AND id = ANY($3::text[])") +
              " ORDER BY updated_at DESC FETCH FIRST ($2) ROWS WITH TIES",
            String(before),
            Math.min(Math.max(0, Math.floor(limit)) || 0, 2 ** 31 - 1),
            ...(ids === undefined ? [] : [ids])
          ),
          // The rows have the columns of the SELECT.
          (rows) => rows as unknown as ReadonlyArray<SessionInfo>
        ), { mayRepeat: true }),
    fork: (id, to) => transaction(forking(database, id, to)),
    remove: (id) =>
      transaction((query) =>
        Effect.gen(function*() {
          yield* clearArtifacts(query, s, requireSessionId(address, id))
          yield* clearEvents(query, s, id)
          yield* query(`DELETE FROM ${s}.pins WHERE session_id = $1`, id)
          yield* query(`DELETE FROM ${s}.inbox WHERE session_id = $1 AND ${isTenant}`, id)
          return (yield* query(`DELETE FROM ${s}.sessions WHERE id = $1 RETURNING key`, id)).length > 0
        })
      ),
    records: (id) =>
      read(id, (query) =>
        Effect.map(
          query(
            `SELECT record FROM ${s}.records JOIN ${s}.sessions ON sessions.key = session WHERE id = $1 ORDER BY ` +
              "records.key",
            id
          ),
          (rows) => rows.map(({ record }) => parse(address, String(record)))
        ))
  }
}

/** The parameters are those of `keep`. The statement returns no row if it has stored nothing. */
const commitStatement = (s: string): string => `
  WITH kept AS (
    INSERT INTO ${s}.sessions AS known
      (id, revision, turn, status, messages, state, written_by, created_at, updated_at)
    SELECT $1::text, $2::int, $3::int, $4::text, $5::int + cardinality($6::text[]), $7::text, $8::text, ${now}, ${now}
    WHERE ($5::int = 0 AND ($10::boolean OR NOT (${isErased(s, "$11", "$12")})))
      OR EXISTS (SELECT FROM ${s}.sessions WHERE id = $1)
    ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, turn = excluded.turn, status = excluded.status,
      messages = excluded.messages, state = excluded.state, written_by = excluded.written_by,
      updated_at = excluded.updated_at
    WHERE known.revision = excluded.revision - 1 AND known.messages >= $5::int
    RETURNING key
  ), cut AS (
    DELETE FROM ${s}.messages USING kept WHERE session = key AND position >= $5::int + cardinality($6::text[])
  ), added AS (
    INSERT INTO ${s}.messages (session, position, message)
    SELECT key, $5::int + number - 1, text FROM kept, unnest($6::text[]) WITH ORDINALITY AS given (text, number)
    ON CONFLICT (session, position) DO UPDATE SET message = excluded.message
  ), noted AS (
    INSERT INTO ${s}.records (session, record)
    SELECT key, text FROM kept, unnest($9::text[]) WITH ORDINALITY AS given (text, number) ORDER BY number
  )
  SELECT key FROM kept`

const keep = (
  query: Query,
  s: string,
  statement: string,
  address: string,
  step: Commit,
  token: string
): Effect.Effect<void, unknown> =>
  Effect.gen(function*() {
    const { records, revision, sessionId, snapshot, state } = step
    const id = requireSessionId(address, sessionId)
    const text = JSON.stringify(stateToStore(step))
    const store = (from: number, messages: Commit["messages"]) =>
      query(
        statement,
        id,
        revision,
        state.turnNumber,
        statusOf(state),
        from,
        messages.map((message) => JSON.stringify(message)),
        text,
        token,
        records.map((record) => JSON.stringify(record) ?? "null"),
        isFirst(id, revision),
        ...erasedOf(id)
      )
    if (step.from >= 0 && (yield* store(step.from, step.messages)).length > 0) return
    const [found] = yield* query(`SELECT revision, written_by AS "writtenBy" FROM ${s}.sessions WHERE id = $1`, id)
    // The reply to an earlier attempt was lost.
    if (found?.["writtenBy"] === token) return
    const known = found?.["revision"] as number | undefined
    if (known !== undefined && known !== revision - 1) return yield* conflict(sessionId, revision, known)
    // The session was removed in the meantime, with the messages before this step, so the whole conversation is
    // written.
    if ((yield* store(0, snapshot().messages)).length > 0) return
    const [now] = yield* query(`SELECT revision FROM ${s}.sessions WHERE id = $1`, id)
    return yield* conflict(sessionId, revision, Number(now?.["revision"] ?? 0))
  })

interface Stored {
  readonly state: string
  readonly count: number
  readonly messages: ReadonlyArray<string>
}

const stateOf = (address: string, id: string, { count, messages, state }: Stored): object => {
  if (messages.length !== count) {
    throw storeError(
      address,
      "corrupt",
      `session ${id} should have ${count} messages and has ${messages.length}: restore it from a backup`
    )
  }
  return { ...Object(parse(address, state)), messages: messages.map((message) => parse(address, message)) }
}

const forking = ({ address, schema: s }: Database, id: string, to: string): Act<void> => (query) =>
  Effect.gen(function*() {
    const [source, target] = [requireSessionId(address, id), requireSessionId(address, to)]
    // Nobody changes the source until the end of the transaction.
    const [from] = yield* query(`SELECT key, state FROM ${s}.sessions WHERE id = $1 FOR UPDATE`, source)
    if (from === undefined) return yield* storeError(address, "missing", `there is no session ${id} to fork`)
    const { seal: _seal, ...state } = Object(parse(address, String(from["state"])))
    const [made] = yield* query(
      `INSERT INTO ${s}.sessions (id, revision, turn, status, messages, state, written_by, created_at, updated_at)` +
        ` SELECT $1::text, revision, turn, status, messages, $2::text, '', ${now}, ${now} FROM ${s}.sessions ` +
        "WHERE key = $3" +
        " ON CONFLICT (id) DO NOTHING RETURNING key",
      target,
      JSON.stringify({ ...state, sessionId: to }),
      from["key"]
    )
    if (made === undefined) {
      return yield* storeError(address, "taken", `there is a session ${to} already: fork to another id`)
    }
    const keys = [made["key"], from["key"]]
    yield* query(
      `INSERT INTO ${s}.messages SELECT $1::bigint, position, message FROM ${s}.messages WHERE session = $2`,
      ...keys
    )
    yield* query(
      `INSERT INTO ${s}.records (session, record) SELECT $1::bigint, record ` +
        `FROM ${s}.records WHERE session = $2 ORDER BY key`,
      ...keys
    )
    yield* copyArtifacts(query, s, source, target)
  })
