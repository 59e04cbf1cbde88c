/** What the tests of the Postgres store share: a schema for each test, sessions, and pools that do what some do. */
import type { Pool, PoolClient } from "@belay/providers/PostgresStore"
import * as Effect from "effect/Effect"
import pg from "pg"

let schemas = 0
/** Returns the name of a schema that no other test of this process uses. */
export const newSchema = (): string => `s${process.pid}_${++schemas}`

export const failure = async (effect: Effect.Effect<unknown, unknown>): Promise<{ readonly [key: string]: unknown }> =>
  await Effect.runPromise(Effect.flip(effect)) as never

/** A pool whose connections call `around` instead of a query. */
export const wrapped = (
  pool: pg.Pool,
  around: (text: string, run: () => Promise<pg.QueryResult>) => Promise<pg.QueryResult>
): Pool => ({
  query: (text, values) => pool.query(text, values),
  connect: async (): Promise<PoolClient> => {
    const client = await pool.connect()
    return {
      query: (text, values) => around(text, () => client.query(text, values)),
      release: (destroy) => client.release(destroy),
      on: (event, listener) => client.on(event, listener),
      off: (event, listener) => client.off(event, listener)
    }
  }
})

/**
 * A pool that shares connections as a pooler in transaction mode does: every transaction, and every statement outside
 * of one, runs on some connection, which forgets everything afterwards.
 */
export const transactionPooler = (pool: pg.Pool): Pool => {
  const connect = async (): Promise<PoolClient> => {
    let current: pg.PoolClient | undefined
    let isOpen = false
    const query = async (text: unknown, values?: Array<unknown>): Promise<pg.QueryResult> => {
      if (typeof text !== "string") throw new Error("a named statement stays on one connection")
      const client = current ??= await pool.connect()
      isOpen = text === "BEGIN" || (isOpen && text !== "COMMIT" && text !== "ROLLBACK")
      try {
        return await client.query(text, values)
      } finally {
        if (!isOpen) {
          current = undefined
          await client.query("DISCARD ALL")
          client.release()
        }
      }
    }
    return { query, release: () => current?.release(true) }
  }
  return { connect, query: (text, values) => pool.query(text, values) }
}
