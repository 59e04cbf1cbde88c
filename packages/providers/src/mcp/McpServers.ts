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
import { checkKinds, checkObject, checkOptions, oneOf, type OptionKinds } from "@belay/core/OptionCheck"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { list, never } from "./internal/client.ts"
import { refusalAdvice } from "./internal/connect.ts"
import type { OnElicit } from "./internal/elicit.ts"
import { McpError } from "./internal/error.ts"
import * as File from "./internal/file.ts"
import type { ToolsChange } from "./internal/listing.ts"
import { adviceFor, type Fate, fateOf, messageOf } from "./internal/lost.ts"
import * as Pool from "./internal/pool.ts"
import { readResult } from "./internal/result.ts"
import { isSchema } from "./internal/schema.ts"
import { rootsOf, samplingFor } from "./internal/serverRequests.ts"

export type { Client } from "./internal/client.ts"
export type { Endpoint, Program } from "./internal/connect.ts"
export type { Answer, AnswerValue, OnElicit, Question } from "./internal/elicit.ts"
export { McpError } from "./internal/error.ts"
export type { ToolsChange } from "./internal/listing.ts"

/**
 * A program, a URL, or a client that is already connected. `close` does not close such a client.
 *
 * @category models
 * @since 0.1.0
 */
export type Server = Pool.Server

/** Options of `McpServers.make`. @category models @since 0.1.0 */
export interface Options {
  /** Milliseconds in which a server must answer for the first time. Default 30,000. */
  readonly connectTimeoutMs?: number
  /** Characters of a result as JSON. A larger result fails. Default 1,000,000. */
  readonly maxResultLength?: number
  /**
   * Answers questions of servers to the user (elicitation), in forms and as addresses to open. `"hooks"`: only
   * `onSignal` hooks answer, with the signals `Elicitation` and `ElicitationResult`. A function: hooks first, then the
   * function. Default: servers cannot ask.
   */
  readonly onElicit?: OnElicit
  /**
   * Which servers may call the model of the agent while one of their tools runs (sampling): `true` for all, or names,
   * where `*` matches any characters. All hooks of the agent run for the call, and its cost is part of the turn.
   * Default `false`.
   */
  readonly sampling?: boolean | string | ReadonlyArray<string>
  /** Folders in which servers should work (roots), as paths or `file:` addresses. Default: none. */
  readonly roots?: ReadonlyArray<string>
  /**
   * Receives the tools that differ when a server says that its tools have changed, or after it started again. Tools of
   * `McpTools.fromServers` that changed refuse their calls.
   */
  readonly onToolsChanged?: (change: ToolsChange) => void
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

const optionKinds: OptionKinds<Options> = {
  connectTimeoutMs: "number",
  maxResultLength: "number",
  onElicit: ["text", "function"],
  sampling: ["flag", "texts"],
  roots: "texts",
  onToolsChanged: "function"
}

/**
 * Registers servers by name. Nothing starts yet: the first call of a server connects to it, and parallel calls share
 * the connection. If a server that has answered before is away, such as during a restart, a call that was not sent
 * waits up to 6 seconds for it and is sent on a new connection. A call that may have run is never repeated: it fails,
 * with `fate: "unknown"`. A server has 30 seconds to list its tools. A server may ask the user or the model only while
 * one of its tools runs, at most 10 times during a call. All servers except connected clients need the package
 * `@modelcontextprotocol/client`.
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
  const { connectTimeoutMs = 30_000, maxResultLength = 1_000_000, onElicit, onToolsChanged, roots = [] } = options
  const { sampling = false } = options
  if (typeof onElicit === "string") {
    Result.getOrThrow(checkOptions("McpServers", oneOf("onElicit", onElicit, ["hooks"])))
  }
  Result.getOrThrow(checkObject("mcp-servers", servers, "an object of servers by their names"))
  const known = Result.getOrThrow(check(servers))
  const rights = {
    sampling: samplingFor(sampling),
    roots: rootsOf(roots),
    ...defined({ onElicit })
  }
  const pool = new Pool.Pool(known, { connectTimeoutMs, rights, onToolsChanged })
  const toolsOf = (server: string): Effect.Effect<ReadonlyArray<McpTool>, McpError> =>
    Effect.map(
      pool.use(server, ({ client }) => list(client, server)),
      (all) => all.flatMap((one) => toolOf(server, one))
    )
  const close = () => pool.close()
  const made: McpServers = {
    callTool: (server, tool, args) =>
      pool.use(server, ({ calls, client }) => {
        const leave = calls.enter({ tool, requests: 0 })
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
          Effect.onExit(() => Effect.sync(leave)),
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
  return Pool.keepPool(made, pool)
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

/** Skips a tool that cannot be read, so that the other tools are still listed. */
const toolOf = (server: string, one: unknown): ReadonlyArray<McpTool> => {
  if (typeof one !== "object" || one === null) return []
  // An object with unknown fields.
  const { description, inputSchema, name } = one as { readonly [key: string]: unknown }
  if (typeof name !== "string" || !isSchema(inputSchema)) return []
  return [{ server, name, inputSchema, ...(typeof description === "string" ? { description } : {}) }]
}
