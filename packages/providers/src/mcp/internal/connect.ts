/** Connects to one server with the client of `@modelcontextprotocol/client`, which is loaded on first use. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { type Client, messageOf } from "./client.ts"
import { McpError } from "./error.ts"

/** A program that speaks MCP over its standard input and output. */
export interface Program {
  readonly command: string
  readonly args?: ReadonlyArray<string>
  /** More variables, in addition to a few that every program gets, such as `HOME` and `PATH`. */
  readonly env?: { readonly [name: string]: string }
  /** Folder of the program. Default: the folder of the process. */
  readonly cwd?: string
}

/** A server that speaks MCP over streamable HTTP. */
export interface Endpoint {
  readonly url: string
  readonly headers?: { readonly [name: string]: string }
}

/** An open connection to a server. */
export interface Connection {
  readonly client: Client
  readonly close: () => Promise<void>
}

/** Bundlers accept that a package is not installed only where the failure of its import is handled. */
const passOn = (error: Error): Promise<never> => Promise.reject(error)

/** Connects, and calls `onEnd` when the connection has ended. An interruption closes everything that was opened. */
export const connect = (
  name: string,
  server: Program | Endpoint,
  timeoutMs: number,
  onClosed: () => void
): Effect.Effect<Connection, McpError> =>
  Effect.gen(function*() {
    const { Client: SdkClient, StreamableHTTPClientTransport } = yield* loadClient(name, () =>
      import("@modelcontextprotocol/client").catch(passOn))
    const { StdioClientTransport } = yield* loadClient(name, () =>
      import("@modelcontextprotocol/client/stdio").catch(passOn))
    let last = ""
    const transport = "command" in server
      ? new StdioClientTransport({ ...server, args: [...server.args ?? []], env: { ...server.env }, stderr: "pipe" })
      : new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: { ...server.headers } } })
    if ("stderr" in transport) {
      // The last lines that a program writes before it exits are the reason.
      transport.stderr?.on("data", (chunk: Buffer) => {
        last = `${last}${chunk.toString("utf8")}`.slice(-2_000)
      })
    }
    const client = new SdkClient({ name: "belay", version: "0.1.0" })
    yield* Effect.tryPromise({
      try: (signal) =>
        client.connect(transport, { timeout: timeoutMs, signal }),
      catch: (error) => {
        const said = last.trim().split("\n").at(-1)
        return new McpError({
          server: name,
          message: `cannot connect to the MCP server "${name}": ${messageOf(error)}${
            said === undefined || said === "" ? "" : ` (it said: ${said.slice(0, 500)})`
          }`
        })
      }
    }).pipe(Effect.onExit((exit) =>
      Exit.isSuccess(exit) ? Effect.void : Effect.promise(() =>
        transport.close().catch(() => {})
      )
    ))
    client.onclose = onClosed
    return {
      client,
      close: () =>
        client.close()
    }
  })

const loadClient = <A>(server: string, load: () => Promise<A>): Effect.Effect<A, McpError> =>
  Effect.tryPromise({
    try: load,
    catch: (error) =>
      new McpError({
        server,
        message: `MCP servers need the package @modelcontextprotocol/client 2.4.0, which cannot be loaded: ${
          messageOf(error)
        }`
      })
  })
