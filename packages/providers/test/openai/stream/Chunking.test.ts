import * as Endpoint from "@belay/testing/Endpoint"
import { assert, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Sse from "../../../src/openai/internal/response/sse.ts"
import * as Stream from "../../../src/openai/internal/response/stream.ts"
import { request, scripted, stream, success } from "../../support/support.ts"

const body = [
  ": welcome\r\n\r\n",
  `data: ${JSON.stringify(Endpoint.delta({ role: "assistant", content: "" }))}\r\n\r\n`,
  ...["<th", "ink>Hmm… ", "well</thi", "nk>\n\nGrüße ", "👋", " to\tyou"].map((content) =>
    `data: ${JSON.stringify(Endpoint.delta({ content }))}\n\n`
  ),
  ...[`{"ci`, `ty":"Zü`, `rich 👩‍👩‍👧"}`].map((text, at) =>
    `data:${
      JSON.stringify(
        Endpoint.delta({
          tool_calls: [{
            index: 0,
            ...(at === 0 ? { id: "c1", type: "function" } : {}),
            function: { ...(at === 0 ? { name: "weather" } : {}), arguments: text }
          }]
        })
      )
    }\r\r`
  ),
  `event: message\ndata: ${JSON.stringify(Endpoint.delta({}, "tool_calls"))}\n\n`,
  `data: {"choices":[],\ndata: "usage":{"prompt_tokens":7,"completion_tokens":5,"total_tokens":12}}\n\n`,
  "data: [DONE]"
].join("")
const bytes = Buffer.from(body)

const decode = (pieces: ReadonlyArray<Uint8Array>) => {
  const events: Array<readonly [string, string]> = []
  const decoder = Sse.make(
    { onData: (data, event) => events.push([data, event]), onTooLong: () => events.push(["too long", ""]) },
    1_000_000
  )
  for (const piece of pieces) decoder.push(piece)
  decoder.end()
  return events
}

const split = (cuts: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const points = [0, ...[...new Set(cuts)].sort((a, b) => a - b), bytes.length]
  return points.slice(1).map((end, at) => bytes.subarray(points[at], end))
}

const assembled = (pieces: ReadonlyArray<Uint8Array>) => {
  const assembler = Stream.make(request(), "vendor", undefined)
  for (const [data] of decode(pieces)) if (data !== "[DONE]") assembler.push(JSON.parse(data))
  return assembler.end(true)
}

const cuts = Arbitrary.schema(Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: bytes.length }))))

it.effect.prop("any split of the same bytes gives the same answer", [cuts], ([at]) =>
  Effect.sync(() => {
    assert.deepStrictEqual(decode(split(at)), decode([bytes]))
    assert.deepStrictEqual(assembled(split(at)), assembled([bytes]))
  }))

it("every single split of the same bytes gives the same events", () => {
  const expected = decode([bytes])
  for (let at = 0; at <= bytes.length; at++) assert.deepStrictEqual(decode(split([at])), expected)
})

it.live("the answer over HTTP is the same at once and byte by byte", () =>
  Effect.gen(function*() {
    const { provider } = yield* scripted([{ chunks: [bytes] }, {
      chunks: Array.from(bytes, (byte) => Uint8Array.of(byte))
    }])
    const once = yield* stream(provider)
    const slowly = yield* stream(provider)
    assert.deepStrictEqual(success(slowly.result), success(once.result))
    assert.deepStrictEqual(slowly.deltas, once.deltas)
    assert.deepStrictEqual(success(once.result), {
      id: "chatcmpl-1",
      model: "scripted",
      text: "Grüße 👋 to\tyou",
      reasoning: "Hmm… well",
      usage: { inputTokens: 7, outputTokens: 5, billableOutputTokens: 5 },
      toolCalls: [{ id: "c1", name: "weather", args: { city: "Zürich 👩‍👩‍👧" } }],
      finishReason: "tool-calls"
    })
  }))
