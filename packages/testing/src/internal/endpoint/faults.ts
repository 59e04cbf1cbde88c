/** Failures that the suffix of a model name selects, such as `demo:rate-limit-once`. */
import type { JsonObject } from "@belay/core/Json"
import { digest } from "@belay/core/Json"
import { chunks } from "./completion.ts"
import type { ChunkedAnswer, RawAnswer, Reply } from "./script.ts"
import { type WireRequest, wireText } from "./wire.ts"

/** All failures and what they do. */
export const descriptions = {
  "rate-limit": "429 on every call",
  "rate-limit-once": "429 on the first call of a turn, then an answer",
  overloaded: "503 on every call",
  "overloaded-once": "503 on the first call of a turn, then an answer",
  auth: "401, wrong key",
  quota: "429 insufficient_quota",
  html: "200 with an HTML page",
  empty: "200 with an empty body",
  overflow: "400 context_length_exceeded",
  reset: "the socket is reset in the middle of the stream",
  cut: "the stream ends in the middle of a tool call, without a finish reason",
  stall: "the stream stops, the socket stays open",
  slow: "one piece at a time, slowly"
} as const

/** Name of a failure. */
export type Fault = keyof typeof descriptions

/** The failure that the name of a model selects. */
export const faultOf = (model: string): Fault | undefined => {
  const suffix = model.slice(model.indexOf(":") + 1)
  // `hasOwn` has checked that it is one.
  return model.includes(":") && Object.hasOwn(descriptions, suffix) ? suffix as Fault : undefined
}

/** Remembers the turns that a `-once` failure has hit. It hits the first call of a turn and not its repetition. */
export const makeOnce = () => {
  const hit = new Set<string>()
  return (request: WireRequest): boolean => {
    const turns =
      request.messages.filter(({ role, toolCalls }) => role === "assistant" && toolCalls === undefined).length
    const key = digest([request.model, turns, wireText(request.messages.find(({ role }) => role === "user"))])
    if (hit.delete(key) || request.messages.at(-1)?.role === "tool") return false
    if (hit.size >= 1000) hit.clear()
    hit.add(key)
    return true
  }
}

/** Returns an error body in the format of OpenAI. */
export const failure = (
  status: number,
  message: string,
  type: string,
  code: string | null,
  headers: Readonly<Record<string, string>> = {},
  param: string | null = null
): RawAnswer => ({
  status,
  headers,
  body: { error: { message, type, param, code } satisfies JsonObject }
})

/** Returns the reply of a failure, or nothing if the normal answer is sent. */
export const inject = (
  fault: Fault,
  request: WireRequest,
  answer: () => { readonly events: ReturnType<typeof chunks> },
  once: (request: WireRequest) => boolean,
  slowMs: number
): Reply | undefined => {
  switch (fault) {
    case "rate-limit-once":
    case "overloaded-once":
      return once(request)
        ? inject(fault === "overloaded-once" ? "overloaded" : "rate-limit", request, answer, once, slowMs)
        : undefined
    case "rate-limit":
      return failure(
        429,
        "Rate limit reached for requests. Please try again in 200ms.",
        "requests",
        "rate_limit_exceeded",
        {
          "retry-after-ms": "200",
          "retry-after": "1"
        }
      )
    case "overloaded":
      return failure(
        503,
        "The engine is currently overloaded, please try again later.",
        "server_error",
        "server_is_overloaded",
        {
          "retry-after-ms": "200"
        }
      )
    case "auth":
      return wrongKey()
    case "quota":
      return failure(
        429,
        "You exceeded your current quota, please check your plan and billing details.",
        "insufficient_quota",
        "insufficient_quota"
      )
    case "html":
      return {
        status: 200,
        headers: { "content-type": "text/html; charset=utf-8" },
        body: "<!doctype html><html><head><title>Welcome</title></head><body>Please log in to the captive " +
          "portal.</body></html>"
      }
    case "empty":
      return {
        status: 200,
        headers: { "content-type": request.stream ? "text/event-stream" : "application/json" },
        body: ""
      }
    case "overflow":
      return overflow(128_000, 131_072)
    case "reset":
      return broken(answer().events, "reset")
    case "stall":
      return broken(answer().events, "open")
    case "cut":
      return cut(request)
    case "slow":
      return request.stream
        ? { chunks: answer().events.flatMap((event) => [data(event), slowMs]).concat(["data: [DONE]\n\n"]) }
        : undefined
  }
}

/** Returns a 401 reply with the text of OpenAI. */
export const wrongKey = (): RawAnswer =>
  failure(
    401,
    "Incorrect API key provided. You can find your API key in the place where you started this endpoint.",
    "invalid_request_error",
    "invalid_api_key"
  )

/** Returns a 400 reply with OpenAI's text for a prompt that is too long. */
export const overflow = (limit: number, requested: number): RawAnswer =>
  failure(
    400,
    `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${requested} ` +
      "tokens. Please reduce the length of the messages.",
    "invalid_request_error",
    "context_length_exceeded",
    {},
    "messages"
  )

/** One event of a stream. */
export const data = (event: JsonObject): string => `data: ${JSON.stringify(event)}\n\n`

const broken = (events: ReadonlyArray<JsonObject>, end: "reset" | "open"): ChunkedAnswer => ({
  chunks: [...events.slice(0, Math.max(1, Math.floor(events.length / 2))).map(data), 5],
  end
})

const cut = (request: WireRequest): ChunkedAnswer => {
  const name = request.tools[0]?.name ?? "read_file"
  const events = chunks(request, { toolCalls: [{ id: "call_cut", name, args: `{"path":"invoices/2026-1` }] }, {
    ordinal: 0
  })
  return { chunks: events.slice(0, request.includeUsage ? -2 : -1).map(data) }
}
