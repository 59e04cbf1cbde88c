import type { Json, JsonObject } from "@belay/core/Json"
import { user } from "@belay/core/Message"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { call, completed, events, message, response, speaks } from "../../support/responsesWire.ts"
import { failure, request, stream, success, textOf } from "../../support/support.ts"

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

  it.live("is an overflow if the context is full", () =>
    Effect.gen(function*() {
      const reasons = ["model_context_window_exceeded", "context_length_exceeded", "max_context_length"]
      for (const reason of reasons) {
        const { provider } = yield* speaks([
          events(stopped(reason)),
          { status: 200, body: stopped(reason).response }
        ])
        assert.strictEqual(failure((yield* stream(provider)).result)._tag, "ContextOverflow", reason)
        assert.strictEqual(failure(yield* Effect.result(provider.complete(request())))._tag, "ContextOverflow", reason)
      }
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

describe("pieces of a response that vendors call by several names", () => {
  it.live("are its reasoning, its refusal and its end", () =>
    Effect.gen(function*() {
      const names = [
        "response.reasoning_summary_text.delta",
        "response.reasoning_text.delta",
        "response.reasoning.delta"
      ]
      for (const type of names) {
        const { provider } = yield* speaks([events({ type, output_index: 0, delta: "so so" }, completed([]))])
        const { deltas, result } = yield* stream(provider)
        assert.strictEqual(success(result).reasoning, "so so", type)
        assert.strictEqual(textOf(deltas, "reasoning"), "so so", type)
      }
      const refusal = { type: "response.refusal.delta", output_index: 0, delta: "I will not" }
      for (const type of ["response.completed", "response.done"]) {
        const { provider } = yield* speaks([events(refusal, { ...completed([]), type })])
        assert.strictEqual(success((yield* stream(provider)).result).refusal, "I will not", type)
      }
    }))
})

describe("items that ask the program for something", () => {
  const items: ReadonlyArray<JsonObject> = [
    {
      type: "computer_call",
      id: "cu_1",
      call_id: "call_1",
      action: { type: "click", button: "left", x: 10, y: 20 },
      pending_safety_checks: [],
      status: "completed"
    },
    {
      type: "apply_patch_call",
      id: "apc_1",
      call_id: "call_2",
      operation: { type: "update_file", path: "a.ts", diff: "@@\n-a\n+b" },
      status: "completed"
    },
    { type: "mcp_approval_request", id: "mcpr_1", arguments: "{}", name: "delete", server_label: "files" },
    { type: "local_shell_call", id: "lsh_1", call_id: "call_3", action: { type: "exec", command: ["ls"] } }
  ]

  it.live("are hosted calls of the response, streamed and plain", () =>
    Effect.gen(function*() {
      const done = items.map((item, at) => ({ type: "response.output_item.done", output_index: at, item }))
      const { provider } = yield* speaks([
        events(...done, completed([])),
        events(completed([...items])),
        { status: 200, body: response([...items]) }
      ])
      assert.deepStrictEqual(success((yield* stream(provider)).result).hostedCalls, items)
      assert.deepStrictEqual(success((yield* stream(provider)).result).hostedCalls, items)
      assert.deepStrictEqual((yield* provider.complete(request())).hostedCalls, items)
    }))
})

describe("reasoning of vendors that sign it", () => {
  const sealed: Record<string, JsonObject> = {
    "https://api.x.ai/v1": {
      type: "reasoning",
      id: "rs_1",
      summary: [],
      encrypted_content: "sealed",
      status: "completed"
    },
    "https://openrouter.ai/api/v1": {
      type: "reasoning",
      id: "rs_1",
      summary: [],
      content: [{ type: "reasoning_text", text: "hm" }],
      signature: "sig",
      format: "anthropic-claude-v1"
    }
  }
  for (const [baseUrl, item] of Object.entries(sealed)) {
    it(`is asked for and sent back to ${baseUrl}`, async () => {
      const bodies: Array<JsonObject> = []
      const provider = OpenAiCompatible.make({
        baseUrl,
        name: "vendor",
        apiKey: "test-key",
        model: "grok-4",
        api: "responses",
        fetch: async (_url, init) => {
          bodies.push(JSON.parse(init.body as string))
          return Response.json(response([item, message("hi")]))
        }
      })
      const { metadata = {}, text } = await Effect.runPromise(provider.complete(request()))
      const said = { role: "assistant", content: text, metadata } as const
      await Effect.runPromise(provider.complete(request("", { messages: [said, user("go on")] })))
      assert.deepStrictEqual(bodies[0]?.["include"], ["reasoning.encrypted_content"])
      assert.deepStrictEqual((bodies[1]!["input"] as Array<Json>)[0], item)
    })
  }
})
