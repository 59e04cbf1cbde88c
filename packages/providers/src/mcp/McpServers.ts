/**
 * MCP servers for hooks (`ctx.mcp`). Each server is connected once, when it is first needed, and closed at the end.
 *
 * @since 0.1.0
 */
import { ConfigError } from "@belay/core/AgentError"
import { assertArguments } from "@belay/core/ArgumentCheck"
import { defined } from "@belay/core/Fields"
import type { McpTool } from "@belay/core/Mcp"
import type { McpAccessor } from "@belay/core/McpAccessor"
import { nearest } from "@belay/core/NamePattern"
import { checkKinds, checkObject, type OptionKinds } from "@belay/core/OptionCheck"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Client, list, never } from "./internal/client.ts"
import { connect, type Connection, type Endpoint, type Program, refusalAdvice } from "./internal/connect.ts"
import { McpError } from "./internal/error.ts"
import * as File from "./internal/file.ts"
import { adviceFor, type Fate, fateOf, messageOf } from "./internal/lost.ts"
import { readResult } from "./internal/result.ts"
import { isSchema } from "./internal/schema.ts"

export type { Client } from "./internal/client.ts"
export type { Endpoint, Program } from "./internal/connect.ts"
export { McpError } from "./internal/error.ts"

/**
 * A program, a URL, or a client that is already connected. `close` does not close such a client.
 *
 * @category models
 * @since 0.1.0
 */
export type Server = Program | Endpoint | { readonly client: Client }

/** Options of `McpServers.make`. @category models @since 0.1.0 */
export interface Options {
  /** Milliseconds in which a server must answer for the first time. Default 30,000. */
  readonly connectTimeoutMs?: number
  /** Characters of a result as JSON. A larger result fails. Default 1,000,000. */
  readonly maxResultLength?: number
}

/**
 * Servers by name, for the option `mcp` of an agent. Its effects fail with an `McpError`.
 *
 * @category models
 * @since 0.1.0
 */
export interface McpServers extends McpAccessor, AsyncDisposable {
  /** Ends all connections and the programs behind them. Later calls fail. */
  readonly close: () => Promise<void>
}

/** The content of a file with servers. @category models @since 0.1.0 */
export interface ServersFile {
  readonly servers: { readonly [name: string]: Server }
  /** A line for each ignored entry, with file, key and reason. */
  readonly warnings: ReadonlyArray<string>
}

/** Milliseconds before each new attempt to reach a server that has answered before. */
const reconnectPauses: ReadonlyArray<number> = [0, 100, 200, 400, 800, 1_600, 3_200]

const optionKinds: OptionKinds<Options> = {
  connectTimeoutMs: "number",
  maxResultLength: "number"
}

/**
 * Registers servers by name. Nothing starts yet: the first call of a server connects to it, and parallel calls share
 * the connection. If a server that has answered before is away, such as during a restart, a call that was not sent
 * waits up to 6 seconds for it and is sent on a new connection. A call that may have run is never repeated: it fails,
 * with `fate: "unknown"`. A server has 30 seconds to list its tools. Servers cannot use sampling, roots or questions to
 * the user. All servers except connected clients need the package `@modelcontextprotocol/client`.
 *
 * Throws a `ConfigError` for a value that is not a server.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import * as McpServers from "@belay/providers/McpServers"
 * import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
 *
 * const mcp = McpServers.make({
 *   files: { command: "my-server", args: ["--read-only"] },
 *   tickets: { url: "https://mcp.example.com" }
 * })
 * const agent = createAgent({ provider: OpenAiCompatible.fromEnv(), mcp })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (servers: { readonly [name: string]: Server }, options: Options = {}): McpServers => {
  Result.getOrThrow(checkKinds("McpServers", options, optionKinds))
  const { connectTimeoutMs = 30_000, maxResultLength = 1_000_000 } = options
  Result.getOrThrow(checkObject("mcp-servers", servers, "an object of servers by their names"))
  const known = Result.getOrThrow(check(servers))
  const open = new Map<string, Promise<Connection>>()
  const end = new AbortController()

  const connected = (name: string, server: Program | Endpoint): Promise<Connection> => {
    const found = open.get(name)
    if (found !== undefined) return found
    const forget = () => void (open.get(name) === made && open.delete(name))
    const made: Promise<Connection> = Effect.runPromise(connect(name, server, connectTimeoutMs, forget), {
      signal: end.signal
    })
    open.set(name, made)
    made.catch(forget)
    return made
  }
  /** Servers that have answered, so that they are worth some waiting. */
  const answered = new Set<string>()
  /** How many calls use a connection. One that was lost is closed when the last call has ended. */
  const users = new Map<Promise<Connection>, number>()
  const enter = (used: Promise<Connection>) => void users.set(used, (users.get(used) ?? 0) + 1)
  const leave = (name: string, used: Promise<Connection>): void => {
    const left = (users.get(used) ?? 1) - 1
    if (left > 0) return void users.set(used, left)
    users.delete(used)
    if (open.get(name) !== used) used.then(({ close }) => close()).catch(() => {})
  }
  /** Runs a call. One that was not sent is sent on a new connection, with growing pauses. */
  const use = <A>(
    name: string,
    call: (client: Client) => Effect.Effect<A, McpError>,
    pauses: ReadonlyArray<number> = reconnectPauses
  ): Effect.Effect<A, McpError> => {
    const asked = Effect.flatMap(clientOf(name), (client) => {
      const used = open.get(name)
      if (used === undefined) return call(client)
      enter(used)
      return call(client).pipe(
        Effect.tapError(({ fate }) =>
          Effect.sync(() => fate === "not-sent" && open.get(name) === used && open.delete(name))
        ),
        Effect.onExit(() => Effect.sync(() => leave(name, used)))
      )
    })
    return Effect.catch(asked, (error) => {
      const [pause, ...rest] = pauses
      if (error.fate !== "not-sent" || !answered.has(name)) return Effect.fail(error)
      return pause === undefined || end.signal.aborted
        ? Effect.fail(error)
        : Effect.flatMap(Effect.sleep(pause), () => use(name, call, rest))
    })
  }
  const clientOf = (name: string): Effect.Effect<Client, McpError> =>
    Effect.suspend(() => {
      const fail = (message: string) => Effect.fail(new McpError({ server: name, message }))
      const server = known.get(name)
      if (server === undefined) return fail(unknown(name, [...known.keys()]))
      if (end.signal.aborted) return fail(`the MCP server "${name}" is closed`)
      if ("client" in server) return Effect.succeed(server.client)
      return Effect.map(
        Effect.tryPromise({
          try: () => connected(name, server),
          catch: (error) =>
            error instanceof McpError ? error : new McpError({ server: name, message: messageOf(error) })
        }),
        ({ client }) => {
          answered.add(name)
          return client
        }
      )
    })
  const toolsOf = (server: string): Effect.Effect<ReadonlyArray<McpTool>, McpError> =>
    Effect.map(
      use(server, (client) => list(client, server)),
      (all) => all.flatMap((one) => toolOf(server, one))
    )
  const close = async (): Promise<void> => {
    end.abort()
    const all = await Promise.allSettled(new Set([...open.values(), ...users.keys()]))
    open.clear()
    await Promise.allSettled(all.flatMap((one) => one.status === "fulfilled" ? [one.value.close()] : []))
  }
  return {
    callTool: (server, tool, args) =>
      use(server, (client) => {
        const failed = (message: string, fate?: Fate) =>
          new McpError({ server, tool, message: `${server}: ${tool}: ${message}`, ...defined({ fate }) })
        return Effect.tryPromise({
          try: async (signal) => client.callTool({ name: tool, arguments: { ...args } }, { signal, timeout: never }),
          catch: (error) => {
            const fate = fateOf(error)
            const endpoint = known.get(server)
            const refused = endpoint === undefined || "client" in endpoint ? "" : refusalAdvice(endpoint, error)
            return failed(`${messageOf(error)}${adviceFor(fate)}${refused}`, fate)
          }
        }).pipe(
          Effect.flatMap((answer) =>
            Effect.fromResult(Result.mapError(readResult(answer, maxResultLength), (why) => failed(why)))
          )
        )
      }),
    listTools: (server) =>
      server === undefined
        ? Effect.map(Effect.forEach(known.keys(), toolsOf, { concurrency: 8 }), (all) => all.flat())
        : toolsOf(server),
    close,
    [Symbol.asyncDispose]: close
  }
}

/**
 * Reads the text of a file with servers: `{ "mcpServers": { "files": { "command": "my-server", "args": [], "env": {} },
 * "tickets": { "type": "http", "url": "https://mcp.example.com" } } }`. Variables are not replaced. Wrong entries are
 * warnings, and `disabled` servers are left out.
 *
 * Such a file decides which programs run. Read only files that you trust.
 *
 * @example
 * ```ts
 * import * as McpServers from "@belay/providers/McpServers"
 * import { readFileSync } from "node:fs"
 *
 * const { servers, warnings } = McpServers.fromFile(readFileSync("mcp.json", "utf8"), "mcp.json")
 * for (const warning of warnings) console.warn(warning)
 * const mcp = McpServers.make(servers)
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const fromFile = (text: string, file = "mcp.json"): ServersFile => {
  assertArguments(typeof text === "string" && typeof file === "string", "McpServers.fromFile", ["text", "file"], [
    text,
    file
  ])
  return File.readFile(text, file)
}

const check = (
  servers: { readonly [name: string]: Server }
): Result.Result<ReadonlyMap<string, Server>, ConfigError> => {
  for (const [name, server] of Object.entries(servers)) {
    const key = `mcp-servers.${name}`
    const why = isClient(server) ? undefined : File.whyNo(server)
    if (why !== undefined) return Result.fail(new ConfigError({ key, message: `${key}: ${why}` }))
  }
  return Result.succeed(new Map(Object.entries(servers)))
}

const isClient = (server: unknown): boolean =>
  typeof server === "object" && server !== null && "client" in server && typeof server.client === "object" &&
  server.client !== null

const unknown = (name: string, names: ReadonlyArray<string>): string => {
  const near = nearest(name, names)
  const hint = near !== undefined ? `did you mean "${near}"?` : `the servers are ${names.join(", ") || "none"}`
  return `there is no MCP server "${name}": ${hint}`
}

/** Skips a tool that cannot be read, so that the other tools are still listed. */
const toolOf = (server: string, one: unknown): ReadonlyArray<McpTool> => {
  if (typeof one !== "object" || one === null) return []
  // An object with unknown fields.
  const { description, inputSchema, name } = one as { readonly [key: string]: unknown }
  if (typeof name !== "string" || !isSchema(inputSchema)) return []
  return [{ server, name, inputSchema, ...(typeof description === "string" ? { description } : {}) }]
}
