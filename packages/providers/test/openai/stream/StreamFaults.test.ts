import * as Json from "@belay/core/Json"
import * as Endpoint from "@belay/testing/Endpoint"
import type { ChunkedAnswer, Reply } from "@belay/testing/Endpoint"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { failure, scripted, stream, success, textOf } from "../../support/support.ts"

const text = "Grüße 👋 from the model"
const parts = ["Grüße ", "👋 from", " the model"]
const say = (content: string, finish: string | null = null) =>
  `data: ${JSON.stringify(Endpoint.delta({ content }, finish))}\n\n`
const spoken = parts.map((part) => say(part)).join("")
const stop = `data: ${JSON.stringify(Endpoint.delta({}, "stop"))}\n\n`
const done = "data: [DONE]\n\n"
const whole = spoken + stop + done
const sse = (...chunks: ChunkedAnswer["chunks"]): ChunkedAnswer => ({ chunks })
const bytes = (body: string) => Array.from(Buffer.from(body), (byte) => Uint8Array.of(byte))

const benign: Record<string, Reply> = {
  "lines end with CRLF": sse(whole.replaceAll("\n", "\r\n")),
  "lines end with CR": sse(whole.replaceAll("\n", "\r")),
  "the stream begins with a byte order mark": sse(`\uFEFF${whole}`),
  "there is no space after data:": sse(whole.replaceAll("data: ", "data:")),
  "an event has its JSON on several data lines": sse(whole.replaceAll(",\"choices\"", "\ndata: ,\"choices\"")),
  "comments and keep-alives come in between": sse(
    `: OPENROUTER PROCESSING\n\n${whole.replaceAll("\n\n", "\n\n: ping\n\n")}`
  ),
  "the stream comes one byte at a time": sse(...bytes(whole)),
  "[DONE] is missing": sse(spoken + stop),
  "something comes after [DONE]": sse(whole + say(" and more")),
  "the last line has no end": sse(whole.trimEnd()),
  "an event says null": sse(`data: null\n\n${whole}`),
  "chunks without choices come in between": sse(`data: {"choices":[],"prompt_filter_results":[]}\n\n${whole}`),
  "event, id and retry fields come along": sse(whole.replaceAll("data: ", "event: message\nid: 7\nretry: 10\ndata: ")),
  "events are not separated by blank lines": sse(whole.replaceAll("\n\n", "\n")),
  "the content type is wrong": { status: 200, headers: { "content-type": "text/plain" }, body: whole }
}

describe("an unusual stream gives the same text when", () => {
  for (const [name, reply] of Object.entries(benign)) {
    it.live(name, () =>
      Effect.gen(function*() {
        const { provider } = yield* scripted([reply])
        const { deltas, result } = yield* stream(provider)
        const response = success(result)
        assert.strictEqual(response.text, text)
        assert.strictEqual(textOf(deltas), text)
        assert.strictEqual(response.finishReason, "stop")
      }))
  }
})

const callPiece = (index: unknown) =>
  `data: ${
    JSON.stringify(
      Endpoint.delta({
        tool_calls: [{
          index: index as number,
          id: "call_1",
          function: { name: "read_file", arguments: `{"path":"a"}` }
        }]
      })
    )
  }\n\n`
const fast = { timeouts: { headersMs: 300, firstEventMs: 300, idleMs: 300 } }

const faults: Record<
  string,
  { readonly reply: Reply; readonly tag: string; readonly partial?: string; readonly says?: RegExp }
> = {
  "the connection closes before the headers": { reply: { connection: "cut" }, tag: "Connection" },
  "the connection is reset before the headers": { reply: { connection: "reset" }, tag: "Connection" },
  "the connection closes after the headers": { reply: { chunks: [], end: "cut" }, tag: "Connection" },
  "the stream ends in the middle of JSON": {
    reply: sse(spoken, `data: {"choices":[{"del`),
    tag: "Malformed",
    partial: text
  },
  "the stream ends in the middle of a letter": {
    reply: sse(spoken, Buffer.from(say("é")).subarray(0, -29)),
    tag: "Malformed",
    partial: text
  },
  "the connection is reset in the middle": {
    reply: { chunks: [spoken, 5], end: "reset" },
    tag: "Connection",
    partial: text
  },
  "the stream ends cleanly without an end": {
    reply: sse(spoken),
    tag: "Malformed",
    partial: text,
    says: /ended before the answer was complete/
  },
  "the body is empty": {
    reply: { status: 200, headers: { "content-type": "text/event-stream" }, body: "" },
    tag: "Malformed",
    says: /empty/
  },
  "a page of HTML comes with 200": {
    reply: { status: 200, headers: { "content-type": "text/html" }, body: "<html><title>Login</title></html>" },
    tag: "Malformed",
    says: /HTML.*Login/
  },
  "an event is not JSON": {
    reply: sse(spoken, "data: {oops}\n\n", stop),
    tag: "Malformed",
    partial: text,
    says: /not JSON/
  },
  "a chunk is an error": {
    reply: sse(spoken, `data: {"error":{"message":"slow down","code":429}}\n\n`),
    tag: "RateLimited",
    partial: text
  },
  "an event is called error": {
    reply: sse(spoken, `event: error\ndata: {"error":{"message":"boom"},"status_code":500}\n\n`),
    tag: "ServerError",
    partial: text
  },
  "a line says error": {
    reply: sse(spoken, `error: {"code":500,"message":"failed to decode, try again, increasing context size"}\n\n`),
    tag: "ContextOverflow",
    partial: text
  },
  "only [DONE] comes": { reply: sse(done), tag: "Malformed", says: /no choices/ },
  "the model stops sending": {
    reply: { chunks: [spoken], end: "open" },
    tag: "Timeout",
    partial: text,
    says: /nothing more/
  },
  "only pings come": {
    reply: { chunks: [spoken, ...Array.from({ length: 200 }, () => [": ping\n\n", 20] as const).flat()], end: "open" },
    tag: "Timeout",
    partial: text
  },
  "the headers never come": { reply: { connection: "open" }, tag: "Timeout", says: /sent no answer/ },
  "no event ever comes": { reply: { chunks: [": hello\n\n"], end: "open" }, tag: "Timeout", says: /no first event/ }
}

describe("a broken stream is a typed error when", () => {
  for (const [name, { partial, reply, says, tag }] of Object.entries(faults)) {
    it.live(name, () =>
      Effect.gen(function*() {
        const { provider } = yield* scripted([reply], tag === "Timeout" ? fast : {})
        const error = failure((yield* stream(provider)).result)
        assert.strictEqual(error._tag, tag)
        assert.strictEqual(error.provider, "vendor")
        if (partial !== undefined) assert.strictEqual(error.partial?.text, partial)
        if (says !== undefined) assert.match(error.message, says)
      }))
  }

  it.live("a line has 64 MiB", () =>
    Effect.gen(function*() {
      const before = process.memoryUsage().arrayBuffers
      const block = "x".repeat(1024 * 1024)
      const { provider } = yield* scripted([{ chunks: [spoken, "data: ", ...Array.from({ length: 64 }, () => block)] }])
      const error = failure((yield* stream(provider)).result)
      assert.strictEqual(error._tag, "Malformed")
      assert.match(error.message, /longer than 8388608/)
      assert.isBelow(process.memoryUsage().arrayBuffers - before, 64 * 1024 * 1024)
    }))
})

describe("a tool call survives an index that is", () => {
  for (const index of [100_000_000, -1, "__proto__", 1.5, null, undefined, {}]) {
    it.live(JSON.stringify(index) ?? "missing", () =>
      Effect.gen(function*() {
        const { provider } = yield* scripted([sse(callPiece(index), stop, done)])
        const response = success((yield* stream(provider)).result)
        assert.deepStrictEqual(response.toolCalls, [{ id: "call_1", name: "read_file", args: { path: "a" } }])
        assert.strictEqual(response.finishReason, "tool-calls")
        assert.isUndefined(Reflect.get(Object.prototype, "id"))
      }))
  }

  it.live("different in each of a thousand parts", () =>
    Effect.gen(function*() {
      const pieces = Array.from({ length: 1000 }, (_, index) =>
        `data: ${
          JSON.stringify(
            Endpoint.delta({ tool_calls: [{ index, id: `c${index}`, function: { name: "f", arguments: "{}" } }] })
          )
        }\n\n`)
      const { provider } = yield* scripted([sse(pieces.join(""), stop, done)])
      const error = failure((yield* stream(provider)).result)
      assert.strictEqual(error._tag, "Malformed")
      assert.match(error.message, /more than 256 tool calls/)
    }))
})

describe("values with a million levels do no harm", () => {
  const deep = "[".repeat(1_000_000) + "]".repeat(1_000_000)
  const deepChunk = (delta: string) => `data: {"choices":[{"index":0,"delta":${delta}}]}\n\n`
  const bodies: Record<string, readonly [string, string]> = {
    "in an error": [
      `data: {"error":{"message":${deep},"detail":${deep},"metadata":{"raw":${deep}}}}\n\n`,
      "ServerError"
    ],
    "in a chunk that is nothing else": [`data: ${deep}\n\n`, "Malformed"],
    "in reasoning details": [
      deepChunk(`{"content":"hi","reasoning_details":[{"type":"x","data":${deep}}]}`) + stop,
      "Success"
    ],
    "in extra content": [deepChunk(`{"content":"hi","extra_content":{"a":${deep}}}`) + stop, "Success"],
    "in arguments": [
      deepChunk(`{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":${deep}}}]}`) + stop,
      "Success"
    ],
    "in arguments as text": [
      deepChunk(`{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{\\"a\\":${deep}}"}}]}`) + stop,
      "Success"
    ]
  }
  for (const [name, [body, tag]] of Object.entries(bodies)) {
    it.live(name, () =>
      Effect.gen(function*() {
        const { provider } = yield* scripted([sse(body)])
        const { result } = yield* stream(provider)
        assert.strictEqual(result._tag === "Success" ? "Success" : result.failure._tag, tag)
        if (result._tag === "Success") assert.isUndefined(Json.whyNot(result.success.metadata ?? {}))
        if (result._tag === "Success") {
          for (const call of result.success.toolCalls) assert.isUndefined(Json.whyNot(call.args))
        }
      }))
  }
})

describe("the arrived part is kept", () => {
  it.live("when the connection breaks after the finish reason", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{ chunks: [spoken + stop, 5], end: "reset" }])
      assert.strictEqual(success((yield* stream(provider)).result).text, text)
    }))

  it.live("when the stream stays open after the finish reason", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{ chunks: [spoken + stop], end: "open" }], fast)
      assert.strictEqual(success((yield* stream(provider)).result).text, text)
    }))

  it.live("when the stream stays open after [DONE]", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{ chunks: [whole], end: "open" }])
      assert.strictEqual(success((yield* stream(provider)).result).text, text)
    }))

  it.live("when arguments have 5 MB", () =>
    Effect.gen(function*() {
      const args = JSON.stringify({ text: "x".repeat(5_000_000) })
      const big = `data: ${
        JSON.stringify(
          Endpoint.delta({ tool_calls: [{ index: 0, id: "big", function: { name: "write", arguments: args } }] })
        )
      }\n\n`
      const { provider } = yield* scripted([sse(big, stop, done)])
      const [call] = success((yield* stream(provider)).result).toolCalls
      assert.deepStrictEqual(call?.args, JSON.parse(args))
    }))
})

describe("a tool call that was cut off is never returned", () => {
  const cut = `data: ${
    JSON.stringify(
      Endpoint.delta({
        tool_calls: [{ index: 0, id: "call_1", function: { name: "delete_files", arguments: `{"pattern":"/tmp` } }]
      })
    )
  }\n\n`

  it.live("when the stream ends", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([sse(cut)])
      const error = failure((yield* stream(provider)).result)
      assert.strictEqual(error._tag, "Malformed")
      assert.isUndefined(error.partial?.toolCalls)
    }))

  it.live("when the model ran out of tokens", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([
        sse(cut, `data: ${JSON.stringify(Endpoint.delta({}, "length"))}\n\n`, done)
      ])
      const response = success((yield* stream(provider)).result)
      assert.deepStrictEqual(response.toolCalls, [])
      assert.strictEqual(response.finishReason, "length")
      assert.deepStrictEqual(response.metadata, {
        vendor: { cutToolCalls: [{ name: "delete_files", argsText: `{"pattern":"/tmp` }] }
      })
    }))

  it.live("when the model ran out of tokens before the first argument", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{
        toolCalls: [{ name: "list", args: { path: "." } }, { name: "delete_all", args: "" }],
        finishReason: "length"
      }])
      const response = success((yield* stream(provider)).result)
      assert.deepStrictEqual(response.toolCalls.map((call) => call.name), ["list"])
    }))
})
