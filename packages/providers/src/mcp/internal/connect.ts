/** Connects to one server with the client of `@modelcontextprotocol/client`, which is loaded on first use. */
import { defined } from "@belay/core/Fields"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Client } from "./client.ts"
import { McpError } from "./error.ts"
import { type FinishLogin, logInWith, type McpOAuth } from "./login.ts"
import { brokenOff, messageOf, statusOf } from "./lost.ts"
import { RunningCalls } from "./runningCalls.ts"
import { answerRequests, capabilitiesOf, type Rights } from "./serverRequests.ts"

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
  /** Logs in with OAuth when the server asks for it. See `McpOAuth.make`. */
  readonly oauth?: McpOAuth
}

/** An open connection to a server. */
export interface Connection {
  readonly client: Client
  /** The calls that run on it. */
  readonly calls: RunningCalls
  /** To be called when a call begins. The function that it returns logs in again, if the server wants that. */
  readonly prepareLogin: () => () => Promise<void> | undefined
  readonly close: () => Promise<void>
}

/** How to connect, and what happens on the connection. */
export interface ConnectOptions {
  readonly timeoutMs: number
  readonly rights: Rights
  readonly onClosed: () => void
  /** The server says that its tools have changed. */
  readonly onToolsChanged: () => void
}

/** Bundlers accept that a package is not installed only where the failure of its import is handled. */
const passOn = (error: Error): Promise<never> => Promise.reject(error)

/** Connects, and calls `onEnd` when the connection has ended. An interruption closes everything that was opened. */
export const connect = (
  name: string,
  server: Program | Endpoint,
  options: ConnectOptions
): Effect.Effect<Connection, McpError> =>
  Effect.catch(connectOnce(name, server, options), (error) => {
    const oauth = "url" in server ? server.oauth : undefined
    if (oauth === undefined || error.login === undefined) return Effect.fail(error.failure)
    const logIn = logInWith(name, oauth, error.login)
    return Effect.andThen(
      logIn,
      Effect.mapError(connectOnce(name, server, options), ({ failure }) => failure)
    )
  })

/** Why it was not possible to connect, and what to do if the server wants a login. */
interface NotConnected {
  readonly failure: McpError
  readonly login: FinishLogin | undefined
}

const connectOnce = (
  name: string,
  server: Program | Endpoint,
  { onClosed, onToolsChanged, rights, timeoutMs }: ConnectOptions
): Effect.Effect<Connection, NotConnected> =>
  Effect.gen(function*() {
    const { Client: SdkClient, StreamableHTTPClientTransport, UnauthorizedError } = yield* loadClient(name, () =>
      import("@modelcontextprotocol/client").catch(passOn))
    const { StdioClientTransport } = yield* loadClient(name, () =>
      import("@modelcontextprotocol/client/stdio").catch(passOn))
    let last = ""
    const transport = "command" in server
      ? new StdioClientTransport({ ...server, args: [...server.args ?? []], env: { ...server.env }, stderr: "pipe" })
      : new StreamableHTTPClientTransport(new URL(server.url), {
        requestInit: { headers: { ...server.headers } },
        ...defined({ authProvider: server.oauth?.provider })
      })
    if ("stderr" in transport) {
      // The last lines that a program writes before it exits are the reason.
      transport.stderr?.on("data", (chunk: Buffer) => {
        last = `${last}${chunk.toString("utf8")}`.slice(-2_000)
      })
    }
    if (transport instanceof StreamableHTTPClientTransport) {
      failBrokenAnswers(transport)
    }
    const calls = new RunningCalls()
    const client = new SdkClient({ name: "belay", version: "0.1.0" }, { capabilities: capabilitiesOf(name, rights) })
    answerRequests(client, name, rights, calls)
    client.setNotificationHandler("notifications/tools/list_changed", onToolsChanged)
    yield* Effect.tryPromise({
      try: (signal) =>
        client.connect(transport, { timeout: timeoutMs, signal }),
      catch: (error): NotConnected => {
        const said = last.trim().split("\n").at(-1)
        const login = error instanceof UnauthorizedError && "finishAuth" in transport
          ? (answer: URLSearchParams) =>
            transport.finishAuth(answer)
          : undefined
        const failure = new McpError({
          server: name,
          fate: "not-sent",
          message: `cannot connect to the MCP server "${name}"${"url" in server ? ` at ${placeOf(server)}` : ""}: ${
            messageOf(error)
          }${said === undefined || said === "" ? "" : ` (it said: ${said.slice(0, 500)})`}${
            refusalAdvice(server, error)
          }`
        })
        return { failure, login }
      }
    }).pipe(
      Effect.onExit((exit) =>
        Exit.isSuccess(exit) ? Effect.void : Effect.promise(() => transport.close().catch(() => {}))
      )
    )
    client.onclose = onClosed
    return {
      client,
      calls,
      prepareLogin: sharedLogin(name, server, transport),
      close: () => client.close()
    }
  })

/** Calls that are refused at the same time share a login, also if the answer to one of them comes late. */
const sharedLogin = (name: string, server: Program | Endpoint, transport: object): Connection["prepareLogin"] => {
  const oauth = "url" in server ? server.oauth : undefined
  let running: Promise<void> | undefined
  let logins = 0
  return () => {
    let before = logins
    return () => {
      if (running !== undefined || oauth?.isAsked?.() !== true) return running
      // Somebody has logged in since this call was sent. Its refusal has taken the new tokens away.
      if (logins > before) {
        before = logins
        return oauth.recover?.() ?? Promise.resolve()
      }
      // The transport of a server with an address can do that.
      const { finishAuth } = transport as { readonly finishAuth: FinishLogin }
      running = Effect.runPromise(logInWith(name, oauth, finishAuth.bind(transport)))
      running.then(() => logins++, () => {}).finally(() => {
        running = undefined
      })
      return running
    }
  }
}

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
  if (server.oauth !== undefined) return `; the login of this server (\`oauth\`) was refused with ${status}`
  return isGiven
    ? `; the server answered ${status}: it refuses the header \`authorization\` of this server, so check whether ` +
      "the key has expired"
    : `; the server answered ${status}: it wants a key, so set headers: { authorization: "Bearer <key>" } for this ` +
      "server, or `oauth` if it has a login"
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

const loadClient = <A>(server: string, load: () => Promise<A>): Effect.Effect<A, NotConnected> =>
  Effect.tryPromise({
    try: load,
    catch: (error) => ({
      failure: new McpError({
        server,
        message: `MCP servers need the package @modelcontextprotocol/client 2.4.0, which cannot be loaded: ${
          messageOf(error)
        }`
      }),
      login: undefined
    })
  })
