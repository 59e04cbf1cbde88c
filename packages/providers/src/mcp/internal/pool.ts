/** The connections of a set of servers: each is opened when it is first needed, and again after it was lost. */
import { nearest } from "@belay/core/NamePattern"
import * as Effect from "effect/Effect"
import { type Client, list } from "./client.ts"
import { connect, type Connection, type Endpoint, type Program } from "./connect.ts"
import { McpError } from "./error.ts"
import { changeOf, type Listing, listingOf, type ToolsChange } from "./listing.ts"
import { messageOf } from "./lost.ts"
import { RunningCalls } from "./runningCalls.ts"
import type { Rights } from "./serverRequests.ts"

/** A program, a URL, or a client that is already connected. `close` does not close such a client. */
export type Server = Program | Endpoint | { readonly client: Client }

/** Options of a pool. */
export interface PoolOptions {
  readonly connectTimeoutMs: number
  readonly rights: Rights
  readonly onToolsChanged: ((change: ToolsChange) => void) | undefined
}

/** A connection that a call uses. */
export interface Used {
  readonly client: Client
  readonly calls: RunningCalls
  /** What the server lists on this connection. It is listed again after the server said that its tools changed. */
  readonly listing: Effect.Effect<Listing, McpError>
  /** Logs in again, if the server wants that. */
  readonly prepareLogin: Connection["prepareLogin"]
}

/** Milliseconds before each new attempt to reach a server that has answered before. */
const reconnectPauses: ReadonlyArray<number> = [0, 100, 200, 400, 800, 1_600, 3_200]

/** How often a call may log in. The login before the last may have been another call's, whose tokens were refused. */
const maxLogins = 2

/** A class, because it has state that many calls share. */
export class Pool {
  readonly servers: ReadonlyMap<string, Server>
  private readonly options: PoolOptions
  private readonly open = new Map<string, Promise<Connection>>()
  private readonly end = new AbortController()
  /** Servers that have answered, so that they are worth some waiting. */
  private readonly answered = new Set<string>()
  /** How many calls use a connection. One that was lost is closed when the last call has ended. */
  private readonly users = new Map<Promise<Connection>, number>()
  private readonly given = new Map<string, Used>()
  private readonly used = new WeakMap<Connection, Used>()
  /** The last listing of each server, for `onToolsChanged`. */
  private readonly last = new Map<string, Listing>()

  constructor(servers: ReadonlyMap<string, Server>, options: PoolOptions) {
    this.servers = servers
    this.options = options
  }

  get rights(): Rights {
    return this.options.rights
  }

  get isClosed(): boolean {
    return this.end.signal.aborted
  }

  /** Runs a call. One that was not sent is sent on a new connection, with growing pauses. */
  use<A>(
    name: string,
    call: (used: Used) => Effect.Effect<A, McpError>,
    pauses: ReadonlyArray<number> = reconnectPauses,
    earlierLogins = 0
  ): Effect.Effect<A, McpError> {
    let logins = earlierLogins
    const asked = Effect.flatMap(this.usedOf(name), (one) => {
      const connection = this.open.get(name)
      if (connection === undefined) return call(one)
      this.users.set(connection, (this.users.get(connection) ?? 0) + 1)
      const logInAgain = one.prepareLogin()
      const refused = (error: McpError): Effect.Effect<A, McpError> => {
        const login = error.fate === "not-sent" && logins < maxLogins ? logInAgain() : undefined
        if (login === undefined) return Effect.fail(error)
        logins++
        const done = Effect.tryPromise({ try: () => login, catch: (failed) => asMcpError(name, failed) })
        return Effect.andThen(done, Effect.catch(call(one), refused))
      }
      return Effect.catch(call(one), refused).pipe(
        Effect.tapError(({ fate }) =>
          Effect.sync(() => fate === "not-sent" && this.open.get(name) === connection && this.open.delete(name))
        ),
        Effect.onExit(() => Effect.sync(() => this.leave(name, connection)))
      )
    })
    return Effect.catch(asked, (error) => {
      const [pause, ...rest] = pauses
      if (error.fate !== "not-sent" || !this.answered.has(name)) return Effect.fail(error)
      return pause === undefined || this.isClosed
        ? Effect.fail(error)
        : Effect.flatMap(Effect.sleep(pause), () => this.use(name, call, rest, logins))
    })
  }

  async close(): Promise<void> {
    this.end.abort()
    const all = await Promise.allSettled(new Set([...this.open.values(), ...this.users.keys()]))
    this.open.clear()
    await Promise.allSettled(all.flatMap((one) => one.status === "fulfilled" ? [one.value.close()] : []))
  }

  private leave(name: string, connection: Promise<Connection>): void {
    const left = (this.users.get(connection) ?? 1) - 1
    if (left > 0) return void this.users.set(connection, left)
    this.users.delete(connection)
    if (this.open.get(name) !== connection) connection.then(({ close }) => close()).catch(() => {})
  }

  private usedOf(name: string): Effect.Effect<Used, McpError> {
    return Effect.suspend(() => {
      const fail = (message: string) => Effect.fail(new McpError({ server: name, message }))
      const server = this.servers.get(name)
      if (server === undefined) return fail(unknown(name, [...this.servers.keys()]))
      if (this.isClosed) return fail(`the MCP server "${name}" is closed`)
      if ("client" in server) return Effect.succeed(this.givenOf(name, server.client))
      return Effect.map(
        Effect.tryPromise({
          try: () => this.connected(name, server),
          catch: (error) => asMcpError(name, error)
        }),
        (connection) => {
          this.answered.add(name)
          return this.used.get(connection)!
        }
      )
    })
  }

  private givenOf(name: string, client: Client): Used {
    const known = this.given.get(name)
    if (known !== undefined) return known
    const listing = this.listings(name, client).read
    const used = { client, calls: new RunningCalls(), listing, prepareLogin: () => () => undefined }
    this.given.set(name, used)
    return used
  }

  private connected(name: string, server: Program | Endpoint): Promise<Connection> {
    const found = this.open.get(name)
    if (found !== undefined) return found
    const forget = () => void (this.open.get(name) === made && this.open.delete(name))
    const { connectTimeoutMs: timeoutMs, rights } = this.options
    let listings: Listings | undefined
    const opened = connect(name, server, {
      timeoutMs,
      rights,
      onClosed: forget,
      onToolsChanged: () => listings?.stale()
    })
    const made: Promise<Connection> = Effect.runPromise(opened, { signal: this.end.signal }).then((connection) => {
      const { calls, client, prepareLogin } = connection
      listings = this.listings(name, client)
      this.used.set(connection, { client, calls, prepareLogin, listing: listings.read })
      // After a restart, the server may have other tools.
      if (this.last.has(name)) listings.stale()
      return connection
    })
    this.open.set(name, made)
    made.catch(forget)
    return made
  }

  private listings(name: string, client: Client): Listings {
    let known: Listing | undefined
    let isReporting = false
    const read = Effect.suspend(() =>
      known !== undefined ? Effect.succeed(known) : Effect.map(list(client, name), (tools) => {
        known = listingOf(tools)
        this.report(name, known)
        return known
      })
    )
    return {
      read,
      stale: () => {
        known = undefined
        if (this.options.onToolsChanged === undefined || isReporting || this.isClosed) return
        isReporting = true
        // A server that cannot list its tools now fails the next call.
        Effect.runPromise(Effect.ignore(read), { signal: this.end.signal }).catch(() => {}).finally(() => {
          isReporting = false
        })
      }
    }
  }

  private report(name: string, now: Listing): void {
    const before = this.last.get(name)
    this.last.set(name, now)
    const change = before === undefined ? undefined : changeOf(name, before, now)
    if (change !== undefined) this.options.onToolsChanged?.(change)
  }
}

const asMcpError = (server: string, error: unknown): McpError =>
  error instanceof McpError ? error : new McpError({ server, message: messageOf(error) })

/** What a server lists on one connection. */
interface Listings {
  readonly read: Effect.Effect<Listing, McpError>
  /** The server says that its tools have changed. */
  readonly stale: () => void
}

const unknown = (name: string, names: ReadonlyArray<string>): string => {
  const near = nearest(name, names)
  const hint = near !== undefined ? `did you mean "${near}"?` : `the servers are ${names.join(", ") || "none"}`
  return `there is no MCP server "${name}": ${hint}`
}

const pools = new WeakMap<object, Pool>()

/** Remembers the pool of what `McpServers.make` returned. */
export const keepPool = <S extends object>(servers: S, pool: Pool): S => {
  pools.set(servers, pool)
  return servers
}

/** Returns the pool of what `McpServers.make` returned. */
export const poolOf = (servers: object): Pool | undefined => pools.get(servers)
