import type { JsonObject } from "@belay/core/Json"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { completed, events, message, response, speaks, textDelta } from "../support/responsesWire.ts"
import { readFile, request, stream, success } from "../support/support.ts"

const content = (more: JsonObject) => ({ content: [{ type: "output_text", text: "hi", annotations: [], ...more }] })

describe("a request of the Responses API", () => {
  it.live("has hosted tools beside the tools of the agent", () =>
    Effect.gen(function*() {
      const { endpoint, provider } = yield* speaks([{ status: 200, body: response([message("hi")]) }])
      yield* provider.complete(request("go", {
        tools: [readFile],
        parameters: {
          hostedTools: [
            { type: "web-search", domains: ["a.example"] },
            { type: "file-search", stores: ["vs_1"], maxResults: 3 },
            { type: "code-interpreter" },
            { type: "mcp", name: "docs", url: "https://mcp.example", headers: { authorization: "x" }, tools: ["read"] }
          ],
          outputs: ["text", "image"],
          logprobs: 2
        }
      }))
      const body = endpoint.requests[0]?.body as JsonObject
      assert.deepStrictEqual((body.tools as ReadonlyArray<JsonObject>).slice(1), [
        { type: "web_search", filters: { allowed_domains: ["a.example"] } },
        { type: "file_search", vector_store_ids: ["vs_1"], max_num_results: 3 },
        { type: "code_interpreter", container: { type: "auto" } },
        {
          type: "mcp",
          server_label: "docs",
          server_url: "https://mcp.example",
          require_approval: "never",
          headers: { authorization: "x" },
          allowed_tools: ["read"]
        },
        { type: "image_generation" }
      ])
      assert.deepStrictEqual(body.include, ["message.output_text.logprobs", "file_search_call.results"])
      assert.strictEqual(body.top_logprobs, 2)
    }))
})

describe("the tool search of the Responses API", () => {
  const found = [
    { type: "tool_search_call", id: "ts_1", execution: "server", call_id: null, arguments: { paths: ["read_file"] } },
    { type: "tool_search_output", id: "to_1", execution: "server", call_id: null, tools: [] }
  ]
  const call = { type: "function_call", id: "fc_1", call_id: "c1", name: "read_file", arguments: "{\"path\":\"a\"}" }

  it.live("gets the marked tools with a request for the search, and what it found again", () =>
    Effect.gen(function*() {
      const { endpoint, provider } = yield* speaks([
        { status: 200, body: response([...found, call]) },
        { status: 200, body: response([message("hi")]) }
      ])
      const marked = { ...readFile, name: "other", deferred: "vendor" as const }
      const asked = request("go", {
        tools: [readFile, marked],
        parameters: { hostedTools: [{ type: "tool-search" }] }
      })
      const { metadata, text, toolCalls } = yield* provider.complete(asked)
      const { tools } = endpoint.requests[0]!.body as { readonly tools: ReadonlyArray<JsonObject> }
      assert.deepStrictEqual(tools.map((one) => [one.type, one.name, one.defer_loading]), [
        ["function", "read_file", undefined],
        ["function", "other", true],
        ["tool_search", undefined, undefined]
      ])
      yield* provider.complete({
        ...asked,
        messages: [
          ...asked.messages,
          { role: "assistant", content: text, toolCalls, ...(metadata === undefined ? {} : { metadata }) },
          { role: "tool", toolCallId: "c1", toolName: "read_file", content: "x" }
        ]
      })
      const { input } = endpoint.requests[1]!.body as { readonly input: ReadonlyArray<JsonObject> }
      assert.deepStrictEqual(input.slice(1, 3), found)
      assert.deepStrictEqual(input.map(({ type }) => type).slice(3), ["function_call", "function_call_output"])
    }))

  it.live("marks nothing without a request for the search", () =>
    Effect.gen(function*() {
      const { endpoint, provider } = yield* speaks([{ status: 200, body: response([message("hi")]) }])
      yield* provider.complete(request("go", { tools: [{ ...readFile, deferred: "vendor" }] }))
      const { tools } = endpoint.requests[0]!.body as { readonly tools: ReadonlyArray<JsonObject> }
      assert.notProperty(tools[0], "defer_loading")
    }))
})

describe("an answer of the Responses API has", () => {
  const search = { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "q" } }
  const output = [
    search,
    { type: "image_generation_call", id: "ig_1", status: "completed", result: "AAAA", output_format: "webp" },
    message(
      "hi",
      content({
        annotations: [
          { type: "url_citation", url: "https://a.example", title: "A", start_index: 0, end_index: 2 },
          { type: "file_citation", file_id: "file_1", filename: "a.pdf", index: 1 }
        ],
        logprobs: [{ token: "hi", logprob: -0.1, bytes: [], top_logprobs: [{ token: "ho", logprob: -2, bytes: [] }] }]
      })
    )
  ]
  const done = output.map((item, at) => ({ type: "response.output_item.done", output_index: at, item }))

  for (
    const [name, reply] of Object.entries({
      "plain": { status: 200, body: response(output) },
      "streamed": events(textDelta("hi"), ...done, completed(output)),
      "streamed, with nothing in the last event": events(textDelta("hi"), ...done, completed([]))
    })
  ) {
    it.live(`the work of hosted tools, citations, pictures and probabilities (${name})`, () =>
      Effect.gen(function*() {
        const { provider } = yield* speaks([reply])
        const answer = "status" in reply
          ? yield* provider.complete(request())
          : success((yield* stream(provider)).result)
        assert.strictEqual(answer.text, "hi")
        assert.deepStrictEqual(answer.hostedCalls, [search])
        assert.deepStrictEqual(answer.citations, [
          { url: "https://a.example", title: "A", start: 0, end: 2 },
          { fileId: "file_1", title: "a.pdf" }
        ])
        assert.deepStrictEqual(answer.files, [
          { type: "file", mediaType: "image/webp", url: "data:image/webp;base64,AAAA" }
        ])
        assert.deepStrictEqual(answer.logprobs, [{ token: "hi", logprob: -0.1, top: [{ token: "ho", logprob: -2 }] }])
      }))
  }

  it.live("no call of the agent's tools when a hosted tool ran", () =>
    Effect.gen(function*() {
      const call = {
        type: "mcp_call",
        id: "mcp_1",
        server_label: "docs",
        name: "read",
        arguments: "{}",
        output: "text"
      }
      const { provider } = yield* speaks([events(
        { type: "response.output_item.added", output_index: 0, item: call },
        { type: "response.mcp_call_arguments.delta", output_index: 0, item_id: "mcp_1", delta: "{}" },
        { type: "response.output_item.done", output_index: 0, item: call },
        completed([call, message("hi")])
      )])
      const answer = success((yield* stream(provider)).result)
      assert.deepStrictEqual(answer.toolCalls, [])
      assert.deepStrictEqual(answer.hostedCalls, [call])
    }))
})
