/** Connects to one server with the client of `@modelcontextprotocol/client`, which is loaded on first use. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Client } from "./client.ts"
import { McpError } from "./error.ts"
import { brokenOff, messageOf, statusOf } from "./lost.ts"

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
    if (transport instanceof StreamableHTTPClientTransport) {
      failBrokenAnswers(transport)
    }
    const client = new SdkClient({ name: "belay", version: "0.1.0" })
    yield* Effect.tryPromise({
      try: (signal) =>
        client.connect(transport, { timeout: timeoutMs, signal }),
      catch: (error) => {
        const said = last.trim().split("\n").at(-1)
        return new McpError({
          server: name,
          fate: "not-sent",
          message: `cannot connect to the MCP server "${name}"${"url" in server ? ` at ${placeOf(server)}` : ""}: ${
            messageOf(error)
          }${said === undefined || said === "" ? "" : ` (it said: ${said.slice(0, 500)})`}${
            refusalAdvice(server, error)
          }`
        })
      }
    }).pipe(
      Effect.onExit((exit) =>
        Exit.isSuccess(exit) ? Effect.void : Effect.promise(() => transport.close().catch(() => {}))
      )
    )
    client.onclose = onClosed
    return {
      client,
      close: () => client.close()
    }
  })

/** The address without parameters and passwords. */
const placeOf = ({ url }: Endpoint): string => {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

/** What to do if a server refuses a program that it does not know. */
export const refusalAdvice = (server: Program | Endpoint, error: unknown): string => {
  const status = statusOf(error)
  if ("command" in server || (status !== 401 && status !== 403)) return ""
  const isGiven = Object.keys(server.headers ?? {}).some((header) => header.toLowerCase() === "authorization")
  return isGiven
    ? `; the server answered ${status}: it refuses the header \`authorization\` of this server, so check whether the key has expired`
    : `; the server answered ${status}: it wants a key, so set headers: { authorization: "Bearer <key>" } for this server`
}

interface Sender {
  readonly send: (message: never, options?: { readonly onRequestStreamEnd?: () => void }) => Promise<void>
  onmessage?: ((message: never) => void) | undefined
}

/** Makes requests fail whose answer broke off, because the client would wait for ever. A late failure is ignored. */
const failBrokenAnswers = (transport: Sender & { send: Sender["send"] }): void => {
  const send = transport.send.bind(transport)
  transport.send = (message: { readonly id?: unknown; readonly method?: unknown }, options = {}) => {
    const onRequestStreamEnd = () => {
      options.onRequestStreamEnd?.()
      // The client has sent a request with this id.
      if (message.id !== undefined) transport.onmessage?.({ jsonrpc: "2.0", id: message.id, error: brokenOff } as never)
    }
    return send(message as never, { ...options, onRequestStreamEnd })
  }
}

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
