/** Connections to the database: statements, transactions, waiting for a server that is away, and migrations. */
import * as Deadline from "@belay/core/Deadline"
import type { SessionConflict } from "@belay/core/SessionStore"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Semaphore from "effect/Semaphore"
import { StoreError, storeError } from "../error.ts"
import { isAway, isMissing, isUndone, postgresError } from "./errors.ts"
import { migrations, type Version, version } from "./schema.ts"

/** A row of a result. @category models @since 0.1.0 */
export interface Row {
  readonly [column: string]: unknown
}

/** What the store uses of a connection. `PoolClient` of `pg` has it. @category models @since 0.1.0 */
export interface PoolClient {
  readonly query: (text: string, values?: Array<unknown>) => PromiseLike<{ readonly rows: ReadonlyArray<Row> }>
  /** Gives the connection back. With `true` it is closed. */
  readonly release: (destroy?: boolean) => void
  /** Where a driver reports a connection that breaks between two statements. */
  readonly on?: (event: "error", listener: (error: unknown) => void) => unknown
  readonly off?: (event: "error", listener: (error: unknown) => void) => unknown
}

/** What the store uses of a pool. `Pool` of `pg` has it. @category models @since 0.1.0 */
export interface Pool {
  readonly connect: () => PromiseLike<PoolClient>
  readonly query: PoolClient["query"]
}

/** A pool that the store has made itself. */
interface OwnPool extends Pool {
  readonly on: (event: "error", listener: (error: unknown) => void) => unknown
  readonly end: () => PromiseLike<unknown>
}

/** Runs one statement and returns its rows. Fails with the error of the driver. */
export type Query = (text: string, ...values: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<Row>, unknown>

/** What can be done in a transaction or with one connection. */
export type Act<A> = (query: Query) => Effect.Effect<A, unknown>

type Failed = StoreError | SessionConflict

/** An open database. */
export interface Database {
  /** The address of the server and the name of the database, without the password. */
  readonly address: string
  /** The quoted name of the schema. */
  readonly schema: string
  /** Connects, and creates or updates the tables. */
  readonly ready: Effect.Effect<void, StoreError>
  /**
   * Uses a connection. While the server cannot be reached, it tries again. If the connection is lost in the middle, it
   * only does so if `act` may run twice.
   */
  readonly use: <A>(act: Act<A>, options?: { readonly mayRepeat?: boolean }) => Effect.Effect<A, Failed>
  /** Does the same in a transaction. It is tried again if the server has undone it because of another one. */
  readonly transaction: <A>(act: Act<A>) => Effect.Effect<A, Failed>
  readonly close: () => Promise<void>
}

/** What `open` needs. */
export interface Settings {
  readonly source: Pool | {
    readonly url: string
    readonly maxConnections: number
    readonly ssl: boolean | object | undefined
  }
  readonly schema: string
  readonly patienceMs: number
  readonly migrates: boolean
}

/** An attempt that failed, and whether it may be made again. */
interface Failure {
  readonly error: unknown
  readonly isRepeatable: boolean
}

const firstDelayMs = 20
const lastDelayMs = 1_000

export const open = (settings: Settings): Database => {
  const { patienceMs, source } = settings
  const isOwn = "url" in source
  const address = isOwn ? addressOf(source.url) : "postgres"
  const schema = `"${settings.schema}"`
  const lock = Semaphore.makeUnsafe(1)
  let pool: Promise<Pool> | undefined
  let isPrepared = false
  let isClosed = false

  const connect = Effect.tryPromise({
    try: async () => {
      if (isClosed) throw storeError(address, "closed", "the store is closed")
      pool ??= isOwn ? makePool(source, address, patienceMs) : Promise.resolve(source)
      const client = await (await pool).connect()
      client.on?.("error", ignore)
      return client
    },
    catch: (error): Failure => ({ error, isRepeatable: isAway(error) })
  })

  /** A connection that may be in the middle of something is closed. */
  const withClient = <A>(act: Act<A>, isRepeatable: (error: unknown) => boolean): Effect.Effect<A, Failure> =>
    Effect.acquireUseRelease(
      connect,
      (client) =>
        Effect.mapError(
          // What is decoded between statements throws its errors.
          Effect.catchDefect(act(queryOf(client)), (defect) =>
            defect instanceof StoreError ? Effect.fail(defect) : Effect.die(defect)),
          (error): Failure => ({ error, isRepeatable: isRepeatable(error) })
        ),
      (client, exit) =>
        Effect.sync(() => {
          const isClosed = Exit.isFailure(exit) && isBroken(exit.cause)
          if (!isClosed) client.off?.("error", ignore)
          client.release(isClosed)
        })
    )

  const prepare = Effect.suspend(() =>
    isPrepared ? Effect.void : lock.withPermit(Effect.suspend(() =>
      isPrepared ? Effect.void : Effect.map(
        withClient((query) => checkTables(query, schema, address, settings.migrates), isAway),
        () => {
          isPrepared = true
        }
      )
    ))
  )

  /** Makes attempts until one succeeds, fails for good, or there was no success for as long as the patience. */
  const attempts = <A>(
    attempt: Effect.Effect<A, Failure>,
    deadline: number,
    delayMs = firstDelayMs
  ): Effect.Effect<A, Failed> =>
    Effect.catch(
      attempt,
      ({ error, isRepeatable }) =>
        Effect.flatMap(Deadline.now, (time) =>
          isRepeatable && time < deadline
            ? Effect.andThen(Effect.sleep(delayMs), attempts(attempt, deadline, Math.min(2 * delayMs, lastDelayMs)))
            : Effect.fail(postgresError(address, error)))
    )
  const repeat = <A>(attempt: Effect.Effect<A, Failure>): Effect.Effect<A, Failed> =>
    Effect.flatMap(Deadline.now, (time) => attempts(attempt, time + patienceMs))
  const prepared = <A>(act: Act<A>, isRepeatable: (error: unknown) => boolean) =>
    repeat(Effect.andThen(prepare, withClient(act, isRepeatable)))

  return {
    address,
    schema,
    ready: repeat(prepare) as Effect.Effect<void, StoreError>,
    use: (act, { mayRepeat = false } = {}) => prepared(act, (error) => mayRepeat && isAway(error)),
    transaction: (act) => prepared((query) => inTransaction(query, act), isUndone),
    close: async () => {
      if (isClosed) return
      isClosed = true
      // Only `makePool` makes the pool of a URL.
      if (isOwn && pool !== undefined) await (await pool as OwnPool).end()
    }
  }
}

const queryOf = (client: PoolClient): Query => (text, ...values) =>
  Effect.map(
    Effect.tryPromise({ try: async () => client.query(text, [...values]), catch: (error) => error }),
    ({ rows }) => rows
  )

/** After an interruption, a statement may still run on the connection. */
const isBroken = (cause: Cause.Cause<unknown>): boolean => {
  const error = Cause.squash(cause)
  return Cause.hasInterrupts(cause) || isAway(error) || isAway(Object(error).error)
}

const inTransaction = <A>(query: Query, act: Act<A>): Effect.Effect<A, unknown> =>
  Effect.andThen(
    query("BEGIN"),
    Effect.onExit(
      Effect.tap(act(query), () => query("COMMIT")),
      // A connection that is closed undoes its transaction.
      (exit) => Exit.isSuccess(exit) || isBroken(exit.cause) ? Effect.void : Effect.ignore(query("ROLLBACK"))
    )
  )

const makePool = async (
  { maxConnections, ssl, url }: Exclude<Settings["source"], Pool>,
  address: string,
  patienceMs: number
): Promise<Pool> => {
  const { default: { Pool: OfPg } } = await import("pg").catch((error: unknown) => {
    throw Object(error).code === "ERR_MODULE_NOT_FOUND"
      ? storeError(address, "unreachable", "the package pg is missing: npm install pg", error)
      : error
  })
  const pool: OwnPool = new OfPg({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: Math.max(1_000, patienceMs),
    ...(ssl === undefined ? {} : { ssl })
  })
  pool.on("error", ignore)
  return pool
}

/** A broken connection is replaced. Without a listener the event would end the process. */
const ignore = (): void => undefined

const addressOf = (url: string): string => {
  try {
    const { host, pathname } = new URL(url)
    return `postgres://${host}${pathname}`
  } catch {
    return "postgres"
  }
}

/** Checks the version of the tables. Creates or updates them, if the store may do so. */
const checkTables = (query: Query, schema: string, address: string, migrates: boolean): Effect.Effect<void, unknown> =>
  Effect.flatMap(versionOf(query, schema, address), (found) => {
    if (found === version) return Effect.void
    if (migrates) return inTransaction(query, (inside) => migrate(inside, schema, address))
    return found > version ? Effect.void : Effect.fail(
      storeError(
        address,
        "missing",
        found === 0
          ? `the schema ${schema} has no tables of Belay: create them with migrations: "auto"`
          : `its tables have version ${found}, and this Belay needs version ${version}: update them with ` +
            `migrations: "auto"`
      )
    )
  })

/** Returns the version of the tables, and 0 if there are none. Fails if this release cannot use them. */
const versionOf = (query: Query, schema: string, address: string): Effect.Effect<number, unknown> =>
  Effect.flatMap(
    Effect.catch(
      query(`SELECT version, readable_by AS "readableBy" FROM ${schema}.belay_version`),
      (error) => isMissing(error) ? Effect.succeed([]) : Effect.fail(error)
    ),
    ([row]) => {
      // Only this store writes the row.
      const { readableBy, version: found } = (row ?? { version: 0, readableBy: 0 }) as unknown as Version
      return readableBy <= version ? Effect.succeed(found) : Effect.fail(storeError(
        address,
        "newer",
        `its tables have version ${found}, and this Belay uses up to version ${version}: use a newer Belay`
      ))
    }
  )

/** Runs in a transaction. The lock makes other processes wait, which then find the new version. */
const migrate = (query: Query, schema: string, address: string): Effect.Effect<void, unknown> =>
  Effect.gen(function*() {
    yield* query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", `belay ${schema}`)
    // Unlike a name in SQL, which may still be known as missing, this reads the catalogue as it is now.
    const known = yield* query(
      "SELECT FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'belay_version'",
      schema.slice(1, -1)
    )
    const found = known.length === 0 ? 0 : yield* versionOf(query, schema, address)
    if (found >= version) return
    if (found === 0) {
      yield* query(`CREATE SCHEMA IF NOT EXISTS ${schema}`)
      yield* query(`CREATE TABLE ${schema}.belay_version (version integer NOT NULL, readable_by integer NOT NULL)`)
      yield* query(`INSERT INTO ${schema}.belay_version VALUES (0, 0)`)
    }
    for (const step of migrations.slice(found)) yield* query(step.sql(schema))
    yield* query(
      `UPDATE ${schema}.belay_version SET version = $1, readable_by = $2`,
      version,
      migrations.at(-1)!.readableBy
    )
  })
