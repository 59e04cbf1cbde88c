import type { Json } from "@belay/core/Json"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { call, completed, events, response, speaks } from "../support/responsesWire.ts"
import { failure, request, stream, success, textOf } from "../support/support.ts"

describe("an answer of the Responses API that something ended", () => {
  const started = call("", { arguments: "" })
  const opened = { type: "response.output_item.added", output_index: 0, item: { ...started, status: "in_progress" } }
  const stopped = (reason: string, output: Json = []) => ({
    type: "response.incomplete",
    response: response(output, { status: "incomplete", incomplete_details: { reason } })
  })

  it.live("has no call that is not complete", () =>
    Effect.gen(function*() {
      const incomplete = { ...started, status: "incomplete" }
      const { provider } = yield* speaks([
        events(opened, stopped("max_output_tokens", [incomplete])),
        events(opened, stopped("content_filter", [incomplete])),
        events(opened, stopped("something_new", [incomplete])),
        { status: 200, body: stopped("max_output_tokens", [incomplete]).response },
        events(opened, completed([], { status: "cancelled" }))
      ])
      assert.deepInclude(success((yield* stream(provider)).result), { toolCalls: [], finishReason: "length" })
      assert.strictEqual(failure((yield* stream(provider)).result)._tag, "ContentFiltered")
      assert.strictEqual(failure((yield* stream(provider)).result)._tag, "Malformed")
      assert.deepInclude(yield* provider.complete(request()), { toolCalls: [], finishReason: "length" })
      assert.strictEqual(failure((yield* stream(provider)).result)._tag, "Malformed")
    }))

  it.live("has the calls that the vendor calls complete, also without arguments", () =>
    Effect.gen(function*() {
      const done = { type: "response.output_item.done", output_index: 0, item: { ...started, status: "completed" } }
      const { provider } = yield* speaks([events(opened, done, stopped("max_output_tokens"))])
      const { toolCalls } = success((yield* stream(provider)).result)
      assert.deepStrictEqual(toolCalls, [{ id: "call_1", name: "read_file", args: {} }])
    }))
})

describe("the parts of a reasoning summary", () => {
  it.live("are paragraphs, streamed and plain", () =>
    Effect.gen(function*() {
      const piece = (at: number, delta: string) => ({
        type: "response.reasoning_summary_text.delta",
        item_id: "rs_1",
        output_index: 0,
        summary_index: at,
        delta
      })
      const item = {
        type: "reasoning",
        id: "rs_1",
        summary: [{ type: "summary_text", text: "**One**" }, { type: "summary_text", text: "**Two** it is" }]
      }
      const { provider } = yield* speaks([
        events(
          piece(0, "**O"),
          piece(0, "ne**"),
          piece(1, ""),
          piece(1, "**Two**"),
          piece(1, " it is"),
          completed([item])
        ),
        { status: 200, body: response([item]) }
      ])
      const { deltas, result } = yield* stream(provider)
      assert.strictEqual(success(result).reasoning, "**One**\n\n**Two** it is")
      assert.strictEqual(textOf(deltas, "reasoning"), "**One**\n\n**Two** it is")
      assert.strictEqual((yield* provider.complete(request())).reasoning, "**One**\n\n**Two** it is")
    }))
})
