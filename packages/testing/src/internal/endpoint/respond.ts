/** Selects the reply to a request: route, key, model, transcript, failure, script, rule-based model. */
import * as Brain from "../../Brain.ts"
import { chunks, plain, promptTokens } from "./completion.ts"
import { data, descriptions, failure, faultOf, inject, makeOnce, overflow, wrongKey } from "./faults.ts"
import {
  type ChunkedAnswer,
  type EndpointRequest,
  isChunked,
  isNone,
  isRaw,
  type NoAnswer,
  type RawAnswer,
  type Reply,
  type ScriptEntry
} from "./script.ts"
import { decode, isProblem, type WireRequest } from "./wire.ts"

/** The models and their context windows, in tokens. */
export const models: ReadonlyMap<string, number> = new Map([
  ["demo", 128_000],
  ["demo-large", 128_000],
  ["demo-small", 16_384],
  ["demo-backup", 32_768]
])

/** What the endpoint remembers between requests. */
export const makeFaultMemory = makeOnce

interface Settings {
  readonly memory: ReturnType<typeof makeFaultMemory>
  /** Entries are removed from the front. */
  readonly script: Array<ScriptEntry> | undefined
  readonly apiKey: string | undefined
  readonly slowMs: number
}

type WireReply = RawAnswer | ChunkedAnswer | NoAnswer

export const respond = (request: EndpointRequest, settings: Settings): WireReply => {
  const path = request.path.replace(/\?.*$/, "").replace(/\/+$/, "")
  const known = path === "/v1/models" || path === "/v1/chat/completions"
  if (known && settings.apiKey !== undefined && request.headers.authorization !== `Bearer ${settings.apiKey}`) {
    return wrongKey()
  }
  if (request.method === "GET" && path === "/v1/models") return modelList()
  if (request.method === "POST" && settings.script !== undefined) return play(request, settings.script)
  if (request.method !== "POST" || path !== "/v1/chat/completions") {
    return failure(404, `Invalid URL (${request.method} ${path})`, "invalid_request_error", null)
  }
  return complete(request, settings)
}

const complete = (request: EndpointRequest, settings: Settings): WireReply => {
  const decoded = decode(request.body)
  if (isProblem(decoded)) {
    return failure(400, decoded.message, "invalid_request_error", decoded.code ?? null, {}, decoded.param)
  }
  const [name = ""] = decoded.model.split(":", 1)
  const window = models.get(name)
  const fault = faultOf(decoded.model)
  if (window === undefined || (decoded.model !== name && fault === undefined)) {
    return failure(
      404,
      `The model \`${decoded.model}\` does not exist or you do not have access to it.`,
      "invalid_request_error",
      "model_not_found"
    )
  }
  const answer = () => Brain.answer(decoded)
  const broken = fault === undefined
    ? undefined
    : inject(fault, decoded, () => ({ events: chunks(decoded, answer(), request) }), settings.memory, settings.slowMs)
  if (broken !== undefined) return wire(broken, decoded, request)
  const size = promptTokens(decoded)
  return size > window ? overflow(window, size) : wire(answer(), decoded, request)
}

const play = (request: EndpointRequest, script: Array<ScriptEntry>): WireReply => {
  const entry = script.shift()
  if (entry === undefined) {
    return failure(
      500,
      `The script is exhausted: request ${request.ordinal} has no entry.`,
      "script_exhausted",
      "script_exhausted"
    )
  }
  const reply = typeof entry === "function" ? entry(request) : entry
  if (isRaw(reply) || isChunked(reply) || isNone(reply)) return reply
  const decoded = decode(request.body)
  if (isProblem(decoded)) {
    return failure(400, decoded.message, "invalid_request_error", decoded.code ?? null, {}, decoded.param)
  }
  return wire(reply, decoded, request)
}

const wire = (reply: Reply, decoded: WireRequest, request: EndpointRequest): WireReply => {
  if (isRaw(reply) || isChunked(reply) || isNone(reply)) return reply
  if (!decoded.stream) return { status: 200, headers: rateHeaders, body: plain(decoded, reply, request) }
  return { chunks: [...chunks(decoded, reply, request).map(data), "data: [DONE]\n\n"], headers: rateHeaders }
}

const rateHeaders = {
  "x-ratelimit-limit-requests": "10000",
  "x-ratelimit-remaining-requests": "9999",
  "x-ratelimit-reset-requests": "6ms"
}

const modelList = (): RawAnswer => ({
  status: 200,
  body: {
    object: "list",
    data: [...models.keys(), ...Object.keys(descriptions).map((fault) => `demo:${fault}`)].map((id) => ({
      id,
      object: "model",
      created: 1_790_000_000,
      owned_by: "belay"
    }))
  }
})
