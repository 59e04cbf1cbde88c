/**
 * Stores sessions, artifacts, inboxes, events, budgets and standing approvals in a Postgres database that many machines
 * can share. It needs the package `pg`, version 8, and Postgres 13 or newer.
 *
 * @since 0.1.0
 */
import type { RuleStore } from "@belay/core/Approvals"
import type { ArtifactStore } from "@belay/core/ArtifactStore"
import * as Awaitable from "@belay/core/Awaitable"
import type { Erasure } from "@belay/core/Erasure"
import type { EventLog } from "@belay/core/EventLog"
import type { Inbox } from "@belay/core/Inbox"
import { checkKinds, checkOptions, oneOf, type OptionKinds, whole } from "@belay/core/OptionCheck"
import type { SessionStore } from "@belay/core/SessionStore"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import type { Account, Ledger } from "./internal/accounts.ts"
import { StoreError } from "./internal/error.ts"
import { artifactsOf } from "./internal/postgres/artifacts.ts"
import { ledgerOf, rulesOf } from "./internal/postgres/books.ts"
import { open, type Pool, type PoolClient } from "./internal/postgres/database.ts"
import { erasureOf } from "./internal/postgres/erase.ts"
import { eventsOf } from "./internal/postgres/events.ts"
import { inboxOf } from "./internal/postgres/inbox.ts"
import { sessionsOf } from "./internal/postgres/sessions.ts"

/** Options of `make`. Either `url` or `pool` is required. @category models @since 0.1.0 */
export interface Options {
  /** The address of the database: `postgres://user:password@host:5432/name`. Parameters such as `sslmode` count. */
  readonly url?: string
  /** A pool that the program has made, such as a `Pool` of `pg`. The store does not close it. */
  readonly pool?: Pool
  /** The name of the Postgres schema that has the tables. Default `belay`. */
  readonly schema?: string
  /** The most connections of a store that has a `url`. Default 10. */
  readonly maxConnections?: number
  /** TLS for a store that has a `url`: `true`, or options of `node:tls` such as `ca`. Default: what the URL says. */
  readonly ssl?: boolean | { readonly [option: string]: unknown }
  /**
   * How long an operation waits for a server that cannot be reached. After that it fails with `unreachable`. Default 10
   * seconds.
   */
  readonly patience?: Duration.Input
  /**
   * Whether the first operation creates the tables, and updates those of an older release (`auto`). With `never`, a
   * database without these tables is refused: create them with `migrate` and a role that may do so. Default `auto`.
   */
  readonly migrations?: "auto" | "never"
}

/** An open store. Its operations fail with a `StoreError`. @category models @since 0.1.0 */
export interface PostgresStore extends AsyncDisposable {
  /** For `store` of an agent. */
  readonly sessions: Required<SessionStore>
  /** The artifacts of the sessions. The same as `sessions.artifacts`. */
  readonly artifacts: ArtifactStore
  /** For `store` of a host, together with the sessions. */
  readonly inbox: Inbox
  /** For `store` of a host: the events of the last turn of each session. */
  readonly events: EventLog
  /** For `store` of a host, whose `erase` uses it. */
  readonly erasure: Erasure
  /** For `ledger` of a budget hook. */
  readonly ledger: Ledger
  /** For `approvals.rules` of an agent. */
  readonly rules: RuleStore
  /** Connects, and creates or updates the tables. Otherwise the first operation does this. */
  readonly ready: () => Awaitable.Awaitable<void, StoreError>
  /** Closes all connections. Later operations fail with `closed`. */
  readonly close: () => Promise<void>
}

export { type Account, type Ledger, type Pool, type PoolClient, StoreError }

const optionKinds: OptionKinds<Options> = {
  url: "text",
  pool: "object",
  schema: "text",
  maxConnections: "number",
  ssl: "any",
  patience: "duration",
  migrations: "text"
}

/**
 * Makes a store. It connects with its first operation. Throws a `ConfigError` for wrong options.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
 * import * as PostgresStore from "@belay/providers/PostgresStore"
 *
 * const store = PostgresStore.make({ url: "postgres://agent@127.0.0.1:5432/agents" })
 * export const agent = createAgent({
 *   provider: OpenAiCompatible.make({ model: "gpt-5.4-mini", apiKey: "sk-not-a-real-key" }),
 *   store: store.sessions,
 *   approvals: { rules: store.rules }
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): PostgresStore => {
  Result.getOrThrow(checkKinds("postgres-store", options, optionKinds, []))
  const { maxConnections = 10, migrations = "auto", patience = "10 seconds", pool, schema = "belay", ssl, url } =
    options
  Result.getOrThrow(checkOptions(
    "postgres-store",
    ["url", url ?? pool ?? null, (given: unknown) => given !== null, "an address here, or a pool as `pool`"],
    ["url", url, isAddress, "an address such as postgres://user@host:5432/name"],
    ["pool", pool, () => url === undefined, "either url or pool, not both"],
    ["pool", pool, isPool, "an object with the methods connect and query, such as a Pool of pg"],
    ["schema", schema, isName, "a name of lower-case letters, digits and _, which begins with a letter"],
    whole("maxConnections", maxConnections, 1),
    oneOf("migrations", migrations, ["auto", "never"])
  ))
  const database = open({
    source: pool ?? { url: url!, maxConnections, ssl },
    schema,
    patienceMs: Duration.toMillis(patience),
    migrates: migrations === "auto"
  })
  const artifacts = artifactsOf(database)
  return {
    sessions: { ...sessionsOf(database), artifacts },
    artifacts,
    inbox: inboxOf(database),
    events: eventsOf(database),
    erasure: erasureOf(database),
    ledger: ledgerOf(database),
    rules: rulesOf(database),
    ready: () => Awaitable.make(database.ready),
    close: database.close,
    [Symbol.asyncDispose]: database.close
  }
}

const isAddress = (url: unknown): boolean => typeof url === "string" && /^postgres(?:ql)?:\/\/./.test(url)

const isPool = ({ connect, query }: Partial<Pool>): boolean =>
  typeof connect === "function" && typeof query === "function"

const isName = (name: unknown): boolean => typeof name === "string" && /^[a-z][a-z0-9_]{0,62}$/.test(name)
