/**
 * An OpenAI-compatible endpoint on the loopback interface for tests. It has a rule-based model, failures that you
 * select by model name, and scripted answers.
 *
 * @since 0.1.0
 */
import { checked } from "@belay/core/ArgumentCheck"
import type { Json, JsonObject } from "@belay/core/Json"
import { checkKinds, type OptionKinds } from "@belay/core/OptionCheck"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import type { Answer } from "./Brain.ts"
import { makeFaultMemory, respond } from "./internal/endpoint/respond.ts"
import type {
  ChunkedAnswer,
  EndpointRequest,
  NoAnswer,
  RawAnswer,
  Reply,
  ScriptEntry
} from "./internal/endpoint/script.ts"
import { send } from "./internal/endpoint/send.ts"

/** Options of `start`. @category models @since 0.1.0 */
export interface EndpointOptions {
  /** Port. Default 0, which selects a free port. */
  readonly port?: number
  /** The API key. Requests with another key get 401. Default: every request is accepted. */
  readonly apiKey?: string
  /** Answers for POST requests, in order. Without it, the rule-based model answers chat completions. */
  readonly script?: ReadonlyArray<ScriptEntry>
  /** Pause between the parts of `:slow` models in milliseconds. Default 40. */
  readonly slowMs?: number
  /** Number of requests in the log. Default 1,000. */
  readonly logLimit?: number
  /** Whether the process may end while the endpoint listens, and while connections to it are open. Default false. */
  readonly unref?: boolean
}

/** A running endpoint. @category models @since 0.1.0 */
export interface Endpoint extends AsyncDisposable {
  /** Base URL for clients. It ends with `/v1`. */
  readonly url: string
  readonly port: number
  /** The latest requests, oldest first. */
  readonly requests: ReadonlyArray<EndpointRequest>
  /** Entries of the script that were not used yet. */
  readonly remaining: number
  /** Closes all connections and stops listening. */
  readonly close: () => Promise<void>
}

export type { Answer, ChunkedAnswer, EndpointRequest, NoAnswer, RawAnswer, Reply, ScriptEntry }

const optionKinds: OptionKinds<EndpointOptions> = {
  port: "number",
  apiKey: "text",
  script: "list",
  slowMs: "number",
  logLimit: "number",
  unref: "flag"
}

/**
 * Starts an endpoint on 127.0.0.1. Rejects if the port is in use or an option is wrong.
 *
 * @category running
 * @since 0.1.0
 */
export const start = (options: EndpointOptions = {}): Promise<Endpoint> =>
  new Promise((resolve, reject) => {
    Result.getOrThrow(checkKinds("Endpoint.start", options, optionKinds))
    const requests: Array<EndpointRequest> = []
    const script = options.script?.slice()
    const memory = makeFaultMemory()
    let ordinal = 0
    const server = createServer((incoming, response) => {
      response.socket?.setNoDelay(true)
      readBody(incoming, (body) => {
        const request: EndpointRequest = {
          method: incoming.method ?? "GET",
          path: incoming.url ?? "/",
          headers: headersOf(incoming),
          body,
          ordinal: ++ordinal
        }
        requests.push(request)
        if (requests.length > (options.logLimit ?? 1000)) requests.shift()
        const reply = respond(request, { memory, script, apiKey: options.apiKey, slowMs: options.slowMs ?? 40 })
        send(response, reply, { "x-request-id": `req_${String(request.ordinal).padStart(6, "0")}` })
      })
    })
    const close = () =>
      new Promise<void>((done) => {
        server.close(() => done())
        server.closeAllConnections()
      })
    server.once("error", reject)
    // A connection that a client keeps open holds the process as the server does.
    if (options.unref === true) server.unref().on("connection", (socket) => socket.unref())
    server.listen(options.port ?? 0, "127.0.0.1", () => {
      // A TCP server has an address of this form.
      const { port } = server.address() as AddressInfo
      resolve({
        url: `http://127.0.0.1:${port}/v1`,
        port,
        requests,
        get remaining() {
          return script?.length ?? 0
        },
        close,
        [Symbol.asyncDispose]: close
      })
    })
  })

/** Starts an endpoint that closes with the scope. A port that is in use is a defect. @category running @since 0.1.0 */
export const scoped = (options: EndpointOptions = {}): Effect.Effect<Endpoint, never, Scope.Scope> =>
  Effect.acquireRelease(Effect.promise(() => start(options)), (endpoint) => Effect.promise(endpoint.close))

/**
 * Returns the events of a well-formed stream for a text, including `[DONE]`. Scripts of failures can change them.
 *
 * @category scripting
 * @since 0.1.0
 */
export const events = checked(
  "Endpoint.events",
  ["chunks"],
  (...chunks: ReadonlyArray<JsonObject>): string =>
    chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("") + "data: [DONE]\n\n"
)

/** One event with a delta. @category scripting @since 0.1.0 */
export const delta = (given: JsonObject, finishReason: string | null = null): JsonObject => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1_790_000_000,
  model: "scripted",
  choices: [{ index: 0, delta: given, finish_reason: finishReason }]
})

const bodyLimit = 64 * 1024 * 1024

const readBody = (incoming: IncomingMessage, done: (body: Json) => void): void => {
  const parts: Array<Buffer> = []
  let size = 0
  incoming.on("data", (part: Buffer) => {
    size += part.length
    if (size > bodyLimit) incoming.destroy()
    else parts.push(part)
  })
  incoming.on("error", () => {})
  incoming.once("end", () => done(parse(Buffer.concat(parts).toString("utf8"))))
}

const parse = (text: string): Json => {
  try {
    // JSON.parse returns JSON.
    return JSON.parse(text) as Json
  } catch {
    return null
  }
}

const headersOf = (incoming: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(incoming.headers).map((
      [name, value]
    ) => [name, Array.isArray(value) ? value.join(", ") : value ?? ""])
  )
