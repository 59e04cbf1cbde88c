/** What the engine asks the tables of the cluster directly. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { Session } from "./session.ts"

/** How often delivered requests are removed, in milliseconds. */
const pruneMs = 1_000

/** How many are removed at once. */
const batch = 5_000

/** Whether the same wake-up waits already. It was not read yet, so whoever gets it sees what was written before this. */
export const isKnown = (
  prefix: string,
  sessionId: string,
  at: number
): Effect.Effect<boolean, SqlError, SqlClient> =>
  Effect.gen(function*() {
    const sql = yield* SqlClient
    const time = yield* Clock.currentTimeMillis
    if (at <= time) return false
    const rows = yield* sql`
      SELECT 1 FROM ${sql(`${prefix}_messages`)}
      WHERE entity_type = ${Session.type} AND entity_id = ${sessionId} AND deliver_at = ${at}
        AND NOT processed AND last_read IS NULL
      LIMIT 1`
    return rows.length > 0
  })

/** Removes requests that were answered, again and again. */
export const pruneForever = (prefix: string): Effect.Effect<never, never, SqlClient> => {
  const prune = Effect.gen(function*() {
    const sql = yield* SqlClient
    yield* sql`
      WITH answered AS (
        DELETE FROM ${sql(`${prefix}_messages`)} WHERE id IN (
          SELECT id FROM ${sql(`${prefix}_messages`)}
          WHERE entity_type = ${Session.type} AND processed
          LIMIT ${sql.literal(String(batch))} FOR UPDATE SKIP LOCKED
        ) RETURNING id
      )
      DELETE FROM ${sql(`${prefix}_replies`)} WHERE request_id IN (SELECT id FROM answered)`
  })
  return Effect.forever(Effect.andThen(Effect.sleep(pruneMs), Effect.ignore(prune)))
}
