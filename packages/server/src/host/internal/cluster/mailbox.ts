/** What the engine asks the tables of the cluster directly. */
import * as Clock from "effect/Clock"
import { make as makeEntityId } from "effect/cluster/EntityId"
import * as Sharding from "effect/cluster/Sharding"
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { Session } from "./session.ts"

/** How often a runner looks after the tables, in milliseconds. */
const careMs = 1_000

/** How many are removed at once. */
const batch = 5_000

/**
 * Whether the same wake-up waits already. It was not read yet, so whoever gets it sees what was written before this.
 */
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

/** Looks after the tables, again and again. `isBusy` says whether this runner answers a session at the moment. */
export const careForever = (
  prefix: string,
  isBusy: (sessionId: string) => boolean
): Effect.Effect<never, never, SqlClient | Sharding.Sharding> => {
  const care = Effect.andThen(Effect.ignore(prune(prefix)), Effect.ignore(release(prefix, isBusy)))
  return Effect.forever(Effect.andThen(Effect.sleep(careMs), care))
}

/** Removes requests that were answered. */
const prune = (prefix: string): Effect.Effect<void, SqlError, SqlClient> =>
  Effect.gen(function*() {
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

/**
 * Lets requests be read again that were read and are not being answered. A process that was frozen or cut off may read
 * requests of sessions that it has lost meanwhile. The cluster itself would notice after ten minutes.
 */
const release = (
  prefix: string,
  isBusy: (sessionId: string) => boolean
): Effect.Effect<void, SqlError, SqlClient | Sharding.Sharding> =>
  Effect.gen(function*() {
    const sql = yield* SqlClient
    const sharding = yield* Sharding.Sharding
    const stale = sql`entity_type = ${Session.type} AND NOT processed AND last_read < NOW() - INTERVAL '3 seconds'`
    const rows = yield* sql<{ readonly entity_id: string }>`
      SELECT DISTINCT entity_id FROM ${sql(`${prefix}_messages`)} WHERE ${stale}`
    const lost = rows.map(({ entity_id }) => entity_id).filter((id) =>
      sharding.hasShardId(sharding.getShardId(makeEntityId(id), "default")) && !isBusy(id)
    )
    if (lost.length === 0) return
    yield* sql`
      UPDATE ${sql(`${prefix}_messages`)} SET last_read = NULL WHERE ${stale} AND ${sql.in("entity_id", lost)}`
    yield* sharding.pollStorage
  })
