/**
 * Serves a host, or an agent, to clients: says who may use it, and keeps the sessions of different principals apart.
 * Each protocol has its own module, which takes what `make` returns.
 *
 * @since 0.1.0
 */
import type { AgentConfig } from "@belay/core/AgentConfig"
import { checked } from "@belay/core/ArgumentCheck"
import * as Awaitable from "@belay/core/Awaitable"
import { checkKinds, checkOptions, invalidOption, type OptionKinds, whole } from "@belay/core/OptionCheck"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Host from "../host/Host.ts"
import { isHostName, loopbackNames } from "./internal/hostNames.ts"
import { ownHost } from "./internal/ownHost.ts"
import { PrincipalLimits, type PrincipalOptions } from "./internal/principalLimits.ts"

/** Answers a web-standard request. It never rejects. @category models @since 0.1.0 */
export type Handler = (request: Request) => Promise<Response>

/**
 * Says who sends a request: returns the name of a principal, such as the id of a user. It returns nothing, or the
 * response to send, if the request is refused. All requests with the same principal see the same sessions.
 *
 * @category models
 * @since 0.1.0
 */
export type Authorize = (request: Request) => Principal | Promise<Principal>

/** Who sends a request: a name, a response that refuses it, or nobody. @category models @since 0.1.0 */
export type Principal = string | Response | undefined

export type { PrincipalOptions }

/** Options that all protocols share. @category models @since 0.1.0 */
export interface Options {
  /** The host whose sessions are served. Somebody has to `start` it, in this process or in another one. */
  readonly host?: Host.Host
  /**
   * Instead of a host: the options of an agent. Its sessions run in this process. Unless the agent has a `store`, they
   * are in memory, and are removed a day after their last turn.
   */
  readonly agent?: AgentConfig
  /** Says who sends a request. There is no default, so that nobody is served by accident. */
  readonly authorize: Authorize
  /** Whether clients may send tools that they run themselves. Default false: such requests are refused. */
  readonly clientTools?: boolean
  /**
   * Whether clients may send instructions: system and developer messages, and `instructions` of Responses. The model
   * reads them after those of the agent, with the same rank. Default false: such requests are refused, because whoever
   * writes instructions can overrule those of the agent.
   */
  readonly clientInstructions?: boolean
  /** Whether a turn is cancelled when the client that reads it goes away. Default false. */
  readonly cancelOnDisconnect?: boolean
  /** The name of the model that clients see. Default `agent`. */
  readonly model?: string
  /**
   * The names under which clients reach the server, as in the header `Host`: `agent.example.com`, with a port if only
   * that port counts, or `*` for all. Default: this machine (`localhost`, `127.0.0.1`, `[::1]`). A request for another
   * name is refused, so that a foreign page cannot reach the server through a name of its own (DNS rebinding).
   */
  readonly allowedHosts?: ReadonlyArray<string>
  /**
   * The origins whose pages may use the server and read the responses (CORS). Default: none but the server's own. `*`
   * allows all pages, but those of other origins only without cookies.
   */
  readonly origins?: ReadonlyArray<string>
  /** The maximum number of bytes of a request's body. Default 10 MiB. */
  readonly maxBodyBytes?: number
  /**
   * The maximum number of JSON values in a body, which is checked before it is parsed. Default 80,000, which is more
   * than 10,000 messages with parts.
   */
  readonly maxValues?: number
  /**
   * The maximum number of characters of the texts of a request, with its history. The content of files does not count.
   * A longer request is refused before it is stored. Default 1,000,000.
   */
  readonly maxTextLength?: number
  /** The maximum number of bytes of a request's headers. Default 32 KiB. */
  readonly maxHeaderBytes?: number
  /** What one principal may ask of this process. Beyond it, requests get status 429 with `Retry-After`. */
  readonly perPrincipal?: PrincipalOptions
  /** The maximum number of characters of one event. Longer results of tools are cut. Default 1,000,000. */
  readonly maxEventLength?: number
  /**
   * Receives the errors that clients must not see, with the text that the client got instead. Default: a line of the
   * log.
   */
  readonly onError?: (error: unknown, shown: string) => void
}

/** A served host. Pass it to the handlers of the protocols. @category models @since 0.1.0 */
export interface Serve extends AsyncDisposable {
  readonly host: Host.Host
  readonly authorize: Authorize
  readonly clientTools: boolean
  readonly clientInstructions: boolean
  readonly allowedHosts: ReadonlyArray<string>
  readonly cancelOnDisconnect: boolean
  readonly model: string
  readonly origins: ReadonlyArray<string>
  readonly maxBodyBytes: number
  readonly maxValues: number
  readonly maxTextLength: number
  readonly maxHeaderBytes: number
  readonly maxEventLength: number
  /** Counts the requests of each principal. */
  readonly principals: Pick<PrincipalLimits, "open" | "whyNot">
  readonly onError: (error: unknown, shown: string) => void
  /** Stops the agent that was given as options. A host goes on. */
  readonly close: () => Promise<void>
}

const optionKinds: OptionKinds<Options> = {
  host: "object",
  agent: "object",
  authorize: "function",
  clientTools: "flag",
  clientInstructions: "flag",
  allowedHosts: "textList",
  cancelOnDisconnect: "flag",
  model: "text",
  origins: "textList",
  maxBodyBytes: "number",
  maxValues: "number",
  maxTextLength: "number",
  maxHeaderBytes: "number",
  maxEventLength: "number",
  perPrincipal: "object",
  onError: "function"
}

const principalKinds: OptionKinds<PrincipalOptions> = {
  openRequests: "number",
  requestsPerMinute: "number",
  mayBegin: "function"
}

/**
 * Serves a host or an agent. Throws a `ConfigError` for wrong options.
 *
 * @example
 * ```ts
 * import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
 * import * as OpenAiChat from "@belay/server/OpenAiChat"
 * import * as Serve from "@belay/server/Serve"
 *
 * const users = new Map([["a-long-random-token", "ada"]])
 * const serve = Serve.make({
 *   agent: { provider: OpenAiCompatible.make({ model: "gpt-5.4-mini", apiKey: "sk-not-a-real-key" }) },
 *   authorize: (request) => users.get(request.headers.get("authorization")?.slice("Bearer ".length) ?? "")
 * })
 * export default { fetch: OpenAiChat.handler(serve) }
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Serve => {
  Result.getOrThrow(checkKinds("Serve", options, optionKinds, ["authorize"]))
  const { agent, host: given, maxBodyBytes = 10_485_760, maxEventLength = 1_000_000 } = options
  const { maxHeaderBytes = 32_768, maxTextLength = 1_000_000, maxValues = 80_000 } = options
  Result.getOrThrow(checkOptions(
    "Serve",
    whole("maxBodyBytes", maxBodyBytes, 1),
    whole("maxValues", maxValues, 1),
    whole("maxTextLength", maxTextLength, 1),
    whole("maxHeaderBytes", maxHeaderBytes, 1),
    whole("maxEventLength", maxEventLength, 1_000)
  ))
  const { openRequests, requestsPerMinute } = options.perPrincipal ?? {}
  Result.getOrThrow(checkKinds("Serve.perPrincipal", options.perPrincipal ?? {}, principalKinds))
  Result.getOrThrow(checkOptions(
    "Serve.perPrincipal",
    whole("openRequests", openRequests ?? 1, 1),
    whole("requestsPerMinute", requestsPerMinute ?? 1, 1)
  ))
  if ((agent === undefined) === (given === undefined)) {
    Result.getOrThrow(invalidOption("Serve.host", "give either `host` or `agent`"))
  }
  if (given !== undefined && typeof given.send !== "function") {
    Result.getOrThrow(invalidOption("Serve.host", "expected what Host.make returns"))
  }
  const notOrigin = options.origins?.find((origin) => !isOrigin(origin))
  if (notOrigin !== undefined) {
    const problem = `expected "*" or origins such as https://app.example.com, found ${JSON.stringify(notOrigin)}`
    Result.getOrThrow(invalidOption("Serve.origins", problem))
  }
  const notHost = options.allowedHosts?.find((host) => !isHostName(host))
  if (notHost !== undefined) {
    const problem = `expected "*" or names such as agent.example.com, found ${JSON.stringify(notHost)}`
    Result.getOrThrow(invalidOption("Serve.allowedHosts", problem))
  }
  if (agent !== undefined && "session" in agent) {
    const problem = "expected the options of createAgent, found an agent: give its options, or make a host of it"
    Result.getOrThrow(invalidOption("Serve.agent", problem))
  }
  const owned = given === undefined ? ownHost(agent!) : undefined
  const close = owned?.close ?? (async () => {})
  return {
    host: given ?? owned!.host,
    authorize: options.authorize,
    clientTools: options.clientTools ?? false,
    clientInstructions: options.clientInstructions ?? false,
    allowedHosts: options.allowedHosts ?? loopbackNames,
    cancelOnDisconnect: options.cancelOnDisconnect ?? false,
    model: options.model ?? "agent",
    origins: options.origins ?? [],
    maxBodyBytes,
    maxValues,
    maxTextLength,
    principals: new PrincipalLimits(options.perPrincipal ?? {}),
    maxHeaderBytes,
    maxEventLength,
    onError: options.onError ?? logError,
    close,
    [Symbol.asyncDispose]: close
  }
}

/** Browsers send an origin without a path. An app can have a scheme of its own, whose origin is not known to `URL`. */
const isOrigin = (text: string): boolean =>
  text === "*" || text === "null" || /^[a-z][a-z0-9+.-]*:\/\/[^/?#]+$/.test(text)

/**
 * Chooses a handler by the path of the request: the first one whose path is equal or begins the request's. `/` takes
 * only itself.
 *
 * @example
 * ```ts
 * import * as OpenAiChat from "@belay/server/OpenAiChat"
 * import * as Serve from "@belay/server/Serve"
 * import * as UiStream from "@belay/server/UiStream"
 *
 * export const handler = (serve: Serve.Serve) =>
 *   Serve.route({ "/v1": OpenAiChat.handler(serve), "/api/chat": UiStream.handler(serve) })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const route = checked("Serve.route", ["handlers"], (handlers: { readonly [path: string]: Handler }): Handler => {
  const all = Object.entries(handlers)
  return async (request) => {
    const { pathname } = new URL(request.url)
    const found = all.find(([path]) => pathname === path || (path !== "/" && pathname.startsWith(`${path}/`)))
    return found === undefined ? new Response("there is nothing at this path", { status: 404 }) : found[1](request)
  }
})

const logError = (error: unknown, shown: string): void => {
  void Awaitable.runPromise(Effect.logError(`a client was told: ${shown}`, error))
}
