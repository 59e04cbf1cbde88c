/** Runs the server of `belay serve`. */
import * as Acp from "@belay/server/Acp"
import * as AgUi from "@belay/server/AgUi"
import type { Host, Running } from "@belay/server/Host"
import type { HostError } from "@belay/server/HostError"
import * as Mcp from "@belay/server/Mcp"
import * as NodeHttp from "@belay/server/NodeHttp"
import * as OpenAiChat from "@belay/server/OpenAiChat"
import * as OpenAiResponses from "@belay/server/OpenAiResponses"
import * as Page from "@belay/server/Page"
import * as Serve from "@belay/server/Serve"
import * as UiStream from "@belay/server/UiStream"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { Console as NodeConsole } from "node:console"
import { createServer } from "node:http"
import { exit, stderr } from "node:process"
import { exitWith } from "../flags.ts"
import { makeDemo } from "./demo.ts"
import { authorizeWith, listen, owner } from "./listen.ts"
import { loadServed } from "./load.ts"
import { endingProcess, firstSignal, graceMs } from "./signals.ts"
import { keptToken } from "./token.ts"

export interface Options {
  readonly config?: string
  readonly token?: string
  readonly data: string
}

export interface HttpOptions extends Options {
  /** How long running turns have to stop after a signal, in milliseconds. */
  readonly drainMs: number
  readonly port: number
  readonly hostname: string
  /** The names under which clients reach the server, beside those of this machine. */
  readonly allowedHosts: ReadonlyArray<string>
  readonly protocols: { readonly [P in "openai" | "ui" | "agUi" | "mcp"]: boolean }
}

/** Serves until the process is asked to end. Turns then get time to reach a point where they can be continued. */
export const overHttp = (options: HttpOptions) =>
  endingProcess(Effect.scoped(Effect.gen(function*() {
    const token = options.token ?? (yield* keptToken(options.data))
    const { drain, serve } = yield* openServe(options, token, hostsOf(options))
    const server = createServer(NodeHttp.toNode(handlerOf(serve, options.protocols)))
    const port = yield* listen(server, options)
    const url = `http://${options.hostname.includes(":") ? `[${options.hostname}]` : options.hostname}:${port}`
    for (const line of addresses(url, token, options.protocols)) yield* Console.log(line)
    yield* firstSignal
    yield* Console.error(
      `belay: stopping: turns have ${options.drainMs / 1_000} s to reach a point where they can continue`
    )
    server.close()
    const late = Effect.as(Effect.sleep(options.drainMs + graceMs), false)
    const inTime = yield* Effect.raceFirst(Effect.as(drain(options.drainMs), true), late)
    yield* Effect.sync(() => server.closeAllConnections())
    yield* Console.error(inTime ? "belay: stopped" : "belay: stopped, although some turns still run")
    yield* exitWith(inTime ? 0 : 1)
  })))

/** Serves the editor that has started this process, until it closes standard input. */
export const overStdio = (options: Options) =>
  endingProcess(Effect.gen(function*() {
    // Standard output belongs to the protocol, so that whatever a program prints goes to standard error.
    globalThis.console = new NodeConsole(stderr)
    const { serve } = yield* openServe(options, "", [])
    yield* Effect.promise(() => Acp.serveStdio(serve, { principal: owner }))
    return yield* Effect.sync(() => exit(0))
  }))

/** Returns all names of the server. `0.0.0.0` is not a name: a request for an address of this machine is served. */
const hostsOf = ({ allowedHosts, hostname }: HttpOptions): ReadonlyArray<string> => {
  const own = hostname.includes(":") ? `[${hostname}]` : hostname
  return ["localhost", "127.0.0.1", "[::1]", own, ...allowedHosts]
}

const openServe = Effect.fnUntraced(function*(
  { config, data }: Options,
  token: string,
  allowedHosts: ReadonlyArray<string>
) {
  const served = config === undefined
    ? { host: yield* Effect.promise(() => makeDemo(data)) }
    : yield* loadServed(config)
  const serve = Serve.make({
    ...("host" in served ? { host: served.host } : { agent: served.agent }),
    authorize: authorizeWith(token),
    clientTools: config === undefined || "agent" in served,
    allowedHosts
  })
  const closing = { drain: (_withinMs: number) => Effect.promise(() => serve.close()), serve }
  if (!("host" in served)) return closing
  const running = yield* startHost(served.host)
  return running === undefined ? closing : { ...closing, drain: (withinMs: number) => running.drain({ withinMs }) }
})

/** Another part of the program may have started the host already. That part drains it. */
const startHost = (host: Host): Effect.Effect<Running | undefined, HostError> =>
  Effect.catch(host.start(), (error) => error.problem === "started" ? Effect.undefined : Effect.fail(error))

const handlerOf = (serve: Serve.Serve, { agUi, mcp, openai, ui }: HttpOptions["protocols"]): Serve.Handler => {
  const page: Serve.Handler = async () => Page.response()
  return Serve.route({
    ...(openai ? { "/v1/responses": OpenAiResponses.handler(serve), "/v1": OpenAiChat.handler(serve) } : {}),
    ...(agUi ? { "/ag-ui": AgUi.handler(serve) } : {}),
    ...(mcp ? { "/mcp": Mcp.handler(serve) } : {}),
    ...(ui ? { "/api/chat": UiStream.handler(serve, { hooks: true }), "/": page } : {})
  })
}

const addresses = (
  url: string,
  token: string,
  { agUi, mcp, openai, ui }: HttpOptions["protocols"]
): ReadonlyArray<string> => [
  ...(ui ? [`page       ${url}/#token=${token}`, `AI SDK     ${url}/api/chat`] : []),
  ...(openai ? [`OpenAI     ${url}/v1`] : []),
  ...(agUi ? [`AG-UI      ${url}/ag-ui`] : []),
  ...(mcp ? [`MCP        ${url}/mcp`] : []),
  `token      ${token}`
]
