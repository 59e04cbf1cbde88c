/**
 * Notices runners that have ended. The cluster waits until the lock of a runner expires, which has to be long enough
 * for a machine under load. But a process that was killed has no connection to the server any more, and the server
 * knows that at once.
 */
import * as Effect from "effect/Effect"
import { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { nameOfConnection } from "./settings.ts"

/** How often the connections are looked at, in milliseconds. */
const lookMs = 500

/** How often a runner must have been without a connection, in looks, because it may be about to make another one. */
const looks = 3

/** Marks runners without a connection as ended, and those that have one again as running. */
export const watchRunners = (prefix: string): Effect.Effect<never, never, SqlClient> => {
  /** How often each runner was missing, since it was seen here. */
  const missing = new Map<string, number>()
  const look = Effect.ignore(Effect.suspend(() => lookAtRunners(prefix, missing)))
  return Effect.forever(Effect.andThen(Effect.sleep(lookMs), look))
}

const lookAtRunners = (
  prefix: string,
  missing: Map<string, number>
): Effect.Effect<void, SqlError, SqlClient> =>
  Effect.gen(function*() {
    const sql = yield* SqlClient
    const table = sql(`${prefix}_runners`)
    const runners = yield* sql<{ readonly address: string; readonly healthy: boolean }>`
      SELECT address, healthy FROM ${table}`
    const connections = yield* sql<{ readonly name: string }>`
      SELECT DISTINCT application_name AS name FROM pg_stat_activity WHERE application_name IS NOT NULL`
    const connected = new Set(connections.map(({ name }) => name))
    const known = new Set(runners.map(({ address }) => address))
    for (const address of missing.keys()) if (!known.has(address)) missing.delete(address)
    for (const { address, healthy } of runners) {
      const isHere = connected.has(nameOfConnection(prefix, address))
      // Another role may not see its connections. Who was never seen is left to the lock.
      if (!isHere && !missing.has(address)) continue
      const count = isHere ? 0 : missing.get(address)! + 1
      missing.set(address, count)
      const isRunning = isHere || (healthy && count < looks)
      if (isRunning !== healthy) yield* sql`UPDATE ${table} SET healthy = ${isRunning} WHERE address = ${address}`
    }
  })
