/**
 * An engine for many machines on one Postgres database. Each session is an entity of `effect/cluster`: its wake-ups are
 * rows, and one process at a time has it. It needs the package `@effect/sql-pg`, and Postgres 14 or newer without a
 * pooler that gives every transaction another connection.
 *
 * @since 0.1.0
 */
import { checkKinds, checkOptions, type OptionKinds, whole } from "@belay/core/OptionCheck"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Engine } from "./Engine.ts"
import { isAddress, isPrefix } from "./internal/optionChecks.ts"
import { failing, needing, senderOf } from "./internal/sender.ts"

/** Options of `make`. @category models @since 0.1.0 */
export interface Options {
  /** The address of the database: `postgres://user:password@host:5432/name`. It may be that of the session store. */
  readonly url: string
  /** What the names of the engine's tables begin with. Hosts with the same prefix share their work. Default `belay`. */
  readonly prefix?: string
  /** TLS: `true`, or options of `node:tls` such as `ca`. Default: what the URL says. */
  readonly ssl?: boolean | { readonly [option: string]: unknown }
  /** The most connections of a process that runs sessions. Two of them are always open. Default 10. */
  readonly maxConnections?: number
  /** How many sessions a process advances at the same time. Default 64. */
  readonly concurrency?: number
  /**
   * How often a process looks for sessions that are due now, in milliseconds. Sessions that are woken without a time
   * are advanced at once. Default 500.
   */
  readonly pollMs?: number
  /**
   * How long a process keeps its sessions that gives no sign of life, in milliseconds. Default 10,000. A process that
   * has ended loses them within two seconds, so this is for one that is frozen or cut off. It must be longer than the
   * machine or the database may be busy with something else: a process that cannot renew its lock within a third of it
   * stops its sessions.
   */
  readonly lockMs?: number
}

const optionKinds: OptionKinds<Options> = {
  url: "text",
  prefix: "text",
  ssl: "any",
  maxConnections: "number",
  concurrency: "number",
  pollMs: "number",
  lockMs: "number"
}

/**
 * Makes the engine. It connects with the first `wake` or `start`, and creates its tables. If a process is killed,
 * others take over its sessions within a few seconds. Throws a `ConfigError` for wrong options.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import * as ClusterEngine from "@belay/server/ClusterEngine"
 * import * as Host from "@belay/server/Host"
 * import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
 * import * as PostgresStore from "@belay/providers/PostgresStore"
 *
 * const url = "postgres://agent@127.0.0.1:5432/agents"
 * const store = PostgresStore.make({ url })
 * const provider = OpenAiCompatible.make({ model: "gpt-5.4-mini", apiKey: "sk-not-a-real-key" })
 * export const host = Host.make({
 *   agent: createAgent({ provider, store: store.sessions }),
 *   store,
 *   engine: ClusterEngine.make({ url })
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Engine => {
  Result.getOrThrow(checkKinds("cluster-engine", options, optionKinds, ["url"]))
  const { concurrency = 64, lockMs = 10_000, maxConnections = 10, pollMs = 500, prefix = "belay", ssl, url } = options
  Result.getOrThrow(checkOptions(
    "cluster-engine",
    ["url", url, isAddress, "an address such as postgres://user@host:5432/name"],
    ["prefix", prefix, isPrefix, "at most 40 lower-case letters, digits and _, which begin with a letter"],
    whole("maxConnections", maxConnections, 3),
    whole("concurrency", concurrency, 1),
    whole("pollMs", pollMs, 1),
    whole("lockMs", lockMs, 3_000)
  ))
  const settings = { url, prefix, ssl, maxConnections, concurrency, pollMs, lockMs }
  const connect = needing("@effect/sql-pg", () => import("./internal/cluster/connect.ts"))
  return {
    name: "cluster",
    wake: senderOf(Effect.flatMap(connect, ({ connectSender }) => connectSender(settings))),
    start: (advance) => failing(Effect.flatMap(connect, ({ connectRunner }) => connectRunner(settings, advance)))
  }
}
