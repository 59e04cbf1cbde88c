/**
 * An engine for many machines on one Postgres database, with the job queue pg-boss. It needs the package `pg-boss`,
 * version 12.38 or newer.
 *
 * @since 0.1.0
 */
import { checkKinds, checkOptions, type OptionKinds, whole } from "@belay/core/OptionCheck"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Engine } from "./Engine.ts"
import { isAddress, isPrefix } from "./internal/optionChecks.ts"
import type { Pool } from "./internal/pgBoss/pool.ts"
import { failing, needing, senderOf } from "./internal/sender.ts"

export type { Pool }

/** Options of `make`. Either `url` or `pool` is required. @category models @since 0.1.0 */
export interface Options {
  /** The address of the database: `postgres://user:password@host:5432/name`. It may be that of the session store. */
  readonly url?: string
  /**
   * A pool that the program has made, such as a `Pool` of `pg`. The engine does not close it. Other processes are then
   * noticed up to half a second later.
   */
  readonly pool?: Pool
  /** The Postgres schema with the tables of pg-boss. Default `pgboss`. */
  readonly schema?: string
  /** The name of the queue. Hosts with the same queue share their work. Default `belay`. */
  readonly queue?: string
  /** TLS for an engine that has a `url`: `true`, or options of `node:tls` such as `ca`. Default: what the URL says. */
  readonly ssl?: boolean | { readonly [option: string]: unknown }
  /** The most connections of a process that runs sessions, if it has a `url`. Default 10. */
  readonly maxConnections?: number
  /**
   * How many sessions a process advances at the same time. Each asks the database twice a second if it has nothing to
   * do. Default 16.
   */
  readonly concurrency?: number
  /**
   * How long a process without a sign of life keeps its sessions, in milliseconds; whole seconds. Default 4,000.
   * After that, other processes take its sessions over. So it must be longer than the machine or the database may be
   * busy with something else.
   */
  readonly lockMs?: number
}

const optionKinds: OptionKinds<Options> = {
  url: "text",
  pool: "object",
  schema: "text",
  queue: "text",
  ssl: "any",
  maxConnections: "number",
  concurrency: "number",
  lockMs: "number"
}

const isPool = (pool: Pool): boolean => typeof pool.query === "function"

/**
 * Makes the engine. It connects with the first `wake` or `start`, and creates the tables of pg-boss. If a process is
 * killed, others take over its sessions within a few seconds. Throws a `ConfigError` for wrong options.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import * as Host from "@belay/server/Host"
 * import * as PgBossEngine from "@belay/server/PgBossEngine"
 * import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
 * import * as PostgresStore from "@belay/providers/PostgresStore"
 *
 * const url = "postgres://agent@127.0.0.1:5432/agents"
 * const store = PostgresStore.make({ url })
 * const provider = OpenAiCompatible.make({ model: "gpt-5.4-mini", apiKey: "sk-not-a-real-key" })
 * export const host = Host.make({
 *   agent: createAgent({ provider, store: store.sessions }),
 *   store,
 *   engine: PgBossEngine.make({ url })
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Engine => {
  Result.getOrThrow(checkKinds("pg-boss-engine", options, optionKinds, []))
  const { concurrency = 16, lockMs = 4_000, maxConnections = 10, pool, queue = "belay", schema = "pgboss", ssl, url } =
    options
  const name = "at most 40 lower-case letters, digits and _, which begin with a letter"
  Result.getOrThrow(checkOptions(
    "pg-boss-engine",
    ["url", url ?? pool ?? null, (given: unknown) => given !== null, "an address here, or a pool as `pool`"],
    ["url", url, isAddress, "an address such as postgres://user@host:5432/name"],
    ["pool", pool, () => url === undefined, "either url or pool, not both"],
    ["pool", pool, isPool, "an object with the method query, such as a Pool of pg"],
    ["schema", schema, isPrefix, name],
    ["queue", queue, isPrefix, name],
    whole("maxConnections", maxConnections, 3),
    whole("concurrency", concurrency, 1),
    whole("lockMs", lockMs, 2_000),
    ["lockMs", lockMs, (ms: number) => ms % 1_000 === 0, "whole seconds, such as 4_000"]
  ))
  const source = pool ?? { url: url!, ssl, maxConnections }
  const settings = { source, schema, queue, concurrency, lockMs }
  const connect = needing("pg-boss", () => import("./internal/pgBoss/connect.ts"))
  return {
    name: "pg-boss",
    wake: senderOf(Effect.flatMap(connect, ({ connectSender }) => connectSender(settings))),
    start: (advance) => failing(Effect.flatMap(connect, ({ connectRunner }) => connectRunner(settings, advance)))
  }
}
