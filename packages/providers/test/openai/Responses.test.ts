import type { Message } from "@belay/core/Message"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import { LLMock } from "@copilotkit/aimock"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  call,
  completed,
  counted,
  events,
  message,
  pathArgs,
  pathCall,
  response,
  speaks,
  textDelta
} from "../support/responsesWire.ts"
import { failure, readFile, request, stream, success, textOf } from "../support/support.ts"

describe("an answer of the Responses API", () => {
  it.live("is text, streamed and plain", () =>
    Effect.gen(function*() {
      const { endpoint, provider } = yield* speaks([
        events(
          { type: "response.created", response: response([], { status: "in_progress" }) },
          textDelta("Grü"),
          textDelta("ße"),
          {
            type: "response.output_text.done",
            text: "Grüße"
          },
          completed([message("Grüße")])
        ),
        { status: 200, body: response([message("Grüße")]) }
      ])
      const { deltas, result } = yield* stream(provider)
      assert.deepStrictEqual(success(result), {
        id: "resp_1",
        model: "m-1",
        text: "Grüße",
        usage: counted,
        toolCalls: [],
        finishReason: "stop"
      })
      assert.strictEqual(textOf(deltas), "Grüße")
      assert.deepStrictEqual(yield* provider.complete(request()), success(result))
      assert.strictEqual(endpoint.requests[0]?.path, "/v1/responses")
    }))

  it.live("has tool calls", () =>
    Effect.gen(function*() {
      const { provider } = yield* speaks([
        events(
          { type: "response.output_item.added", output_index: 0, item: call("", { status: "in_progress" }) },
          { type: "response.function_call_arguments.delta", output_index: 0, item_id: "fc_1", delta: `{"pa` },
          { type: "response.function_call_arguments.delta", output_index: 0, item_id: "fc_1", delta: `th":"a"}` },
          { type: "response.function_call_arguments.done", output_index: 0, item_id: "fc_1", arguments: pathArgs },
          { type: "response.output_item.done", output_index: 0, item: call(pathArgs) },
          completed([call(pathArgs)])
        ),
        { status: 200, body: response([call(pathArgs)]) }
      ])
      const { deltas, result } = yield* stream(provider)
      assert.deepStrictEqual(success(result).toolCalls, pathCall)
      assert.strictEqual(success(result).finishReason, "tool-calls")
      assert.strictEqual(deltas.map((delta) => delta.type === "tool-call" ? delta.argsText : "").join(""), pathArgs)
      assert.deepStrictEqual((yield* provider.complete(request())).toolCalls, pathCall)
    }))

  it.live("has one tool call although the ids of its item change (Copilot)", () =>
    Effect.gen(function*() {
      const { provider } = yield* speaks([events(
        { type: "response.output_item.added", output_index: 0, item: call("", { id: "fc_a" }) },
        { type: "response.function_call_arguments.delta", output_index: 0, item_id: "fc_b", delta: pathArgs },
        { type: "response.output_item.done", output_index: 0, item: call(pathArgs, { id: "fc_c" }) },
        completed([call(pathArgs, { id: "fc_d" })])
      )])
      assert.deepStrictEqual(success((yield* stream(provider)).result).toolCalls, pathCall)
    }))

  it.live("has one tool call although the events have no index (llama.cpp)", () =>
    Effect.gen(function*() {
      const { provider } = yield* speaks([events(
        { type: "response.output_item.added", item: call("") },
        ...Array.from(
          pathArgs,
          (delta) => ({ type: "response.function_call_arguments.delta", item_id: "fc_1", delta })
        ),
        { type: "response.output_item.done", item: call(pathArgs) },
        completed([call(pathArgs)])
      )])
      assert.deepStrictEqual(success((yield* stream(provider)).result).toolCalls, pathCall)
    }))

  it.live("has tool calls that arrive only at the end", () =>
    Effect.gen(function*() {
      const { provider } = yield* speaks([
        events(completed([call(pathArgs), call(`{"path":"b"}`, { id: "fc_2", call_id: "call_2" })]))
      ])
      assert.deepStrictEqual(success((yield* stream(provider)).result).toolCalls, [...pathCall, {
        id: "call_2",
        name: "read_file",
        args: { path: "b" }
      }])
    }))

  it.live("has reasoning, and keeps what must be sent back", () =>
    Effect.gen(function*() {
      const sealed = {
        type: "reasoning",
        id: "rs_1",
        summary: [{ type: "summary_text", text: "so so" }],
        encrypted_content: "sealed"
      }
      const { endpoint, provider } = yield* speaks([
        events({ type: "response.reasoning_summary_text.delta", delta: "so so" }, textDelta("hi"), {
          type: "response.output_item.done",
          output_index: 0,
          item: sealed
        }, completed([sealed, message("hi", { phase: "final_answer" })])),
        {
          status: 200,
          body: response([
            sealed,
            { type: "reasoning", id: "rs_2", content: [{ type: "reasoning_text", text: "open" }] },
            message("hi", { phase: "final_answer" })
          ])
        },
        { status: 200, body: response([message("bye")]) }
      ])
      const { deltas, result } = yield* stream(provider)
      const answer = success(result)
      assert.strictEqual(textOf(deltas, "reasoning"), "so so")
      assert.strictEqual(answer.reasoning, "so so")
      assert.deepStrictEqual(answer.metadata, { vendor: { reasoningItems: [sealed] } })
      const plain = yield* provider.complete(request())
      assert.deepStrictEqual(plain.metadata, { vendor: { reasoningItems: [sealed], phase: "final_answer" } })
      const said: Message = {
        role: "assistant",
        content: plain.text,
        ...(plain.metadata === undefined ? {} : { metadata: plain.metadata })
      }
      yield* provider.complete(
        request("", { messages: [{ role: "user", content: "go" }, said, { role: "user", content: "on" }] })
      )
      assert.deepInclude(endpoint.requests[2]?.body, {
        input: [{ role: "user", content: "go" }, sealed, { role: "assistant", content: "hi", phase: "final_answer" }, {
          role: "user",
          content: "on"
        }]
      })
    }))

  it.live("is a refusal, cut off, or filtered", () =>
    Effect.gen(function*() {
      const { provider } = yield* speaks([
        events(
          { type: "response.refusal.delta", delta: "I can" },
          { type: "response.refusal.delta", delta: "not" },
          completed([{ type: "message", content: [{ type: "refusal", refusal: "I cannot" }] }])
        ),
        events(textDelta("hi"), {
          type: "response.incomplete",
          response: response([call(`{"pa`, { status: "incomplete" })], {
            status: "incomplete",
            incomplete_details: { reason: "max_output_tokens" }
          })
        }),
        {
          status: 200,
          body: response([message("hi")], { status: "incomplete", incomplete_details: { reason: "content_filter" } })
        },
        { status: 200, body: response([message("hi")], { status: "complete" }) }
      ])
      assert.deepInclude(success((yield* stream(provider)).result), {
        refusal: "I cannot",
        text: "",
        finishReason: "stop"
      })
      const cut = success((yield* stream(provider)).result)
      assert.deepInclude(cut, { text: "hi", finishReason: "length" })
      assert.deepStrictEqual(cut.toolCalls, [])
      assert.strictEqual((yield* provider.complete(request())).finishReason, "content-filter")
      assert.strictEqual((yield* provider.complete(request())).finishReason, "stop")
    }))
})

describe("an answer of the Responses API is kept", () => {
  it.live("when the connection breaks after its end", () =>
    Effect.gen(function*() {
      const { provider } = yield* speaks([{
        chunks: [...events(textDelta("hi"), completed([message("hi")])).chunks, 5],
        end: "reset"
      }])
      assert.strictEqual(success((yield* stream(provider)).result).text, "hi")
    }))
})

describe("a failure of the Responses API is typed", () => {
  it.live("in every form it has", () =>
    Effect.gen(function*() {
      const { provider } = yield* speaks([
        events(textDelta("hi"), {
          type: "response.failed",
          response: response([], {
            status: "failed",
            error: { code: "rate_limit_exceeded", message: "try again in 2s" }
          })
        }),
        events({ type: "error", code: "server_error", message: "boom" }),
        events(textDelta("hi")),
        { status: 200, body: response([], { status: "failed", error: { code: "server_error", message: "boom" } }) },
        {
          status: 400,
          body: { error: { message: "The requested model 'x' does not exist.", code: "model_not_found" } }
        }
      ])
      const limited = failure((yield* stream(provider)).result)
      assert.strictEqual(limited._tag, "RateLimited")
      assert.strictEqual(limited.partial?.text, "hi")
      if (limited._tag === "RateLimited") assert.strictEqual(limited.retryAfterMs, 2000)
      assert.strictEqual(failure((yield* stream(provider)).result)._tag, "ServerError")
      assert.strictEqual(failure((yield* stream(provider)).result)._tag, "Malformed")
      assert.strictEqual(failure(yield* Effect.result(provider.complete(request())))._tag, "ServerError")
      assert.strictEqual(failure(yield* Effect.result(provider.complete(request())))._tag, "NotFound")
    }))
})

describe("a request of the Responses API", () => {
  it.live("has the field names of that API", () =>
    Effect.gen(function*() {
      const { endpoint, provider } = yield* speaks([{ status: 200, body: response([message("ok")]) }], {
        compat: { encryptedReasoning: true }
      })
      yield* provider.complete(request("", {
        instructions: "Be brief",
        messages: [
          {
            role: "user",
            content: [{ type: "text", text: "look" }, {
              type: "file",
              mediaType: "image/png",
              url: "data:image/png;base64,AAAA"
            }, {
              type: "file",
              mediaType: "application/pdf",
              url: "https://example.com/a.pdf"
            }]
          },
          { role: "assistant", content: "", toolCalls: [{ id: "call_1", name: "read_file", args: { path: "a" } }] },
          { role: "tool", toolCallId: "call_1", toolName: "read_file", content: { n: 1 } }
        ],
        tools: [readFile],
        parameters: {
          temperature: 0.5,
          maxTokens: 9,
          toolChoice: { tool: "read_file" },
          parallelToolCalls: true,
          reasoningEffort: "low",
          stop: ["x"],
          extra: { user: "ada" }
        }
      }))
      assert.deepStrictEqual(endpoint.requests[0]?.body, {
        model: "scripted",
        input: [
          {
            role: "user",
            content: [{ type: "input_text", text: "look" }, {
              type: "input_image",
              image_url: "data:image/png;base64,AAAA",
              detail: "auto"
            }, { type: "input_file", file_url: "https://example.com/a.pdf" }]
          },
          { type: "function_call", call_id: "call_1", name: "read_file", arguments: `{"path":"a"}` },
          { type: "function_call_output", call_id: "call_1", output: `{"n":1}` }
        ],
        store: false,
        instructions: "Be brief",
        tools: [{
          type: "function",
          name: "read_file",
          description: "Reads a file",
          parameters: readFile.inputSchema,
          strict: false
        }],
        temperature: 0.5,
        max_output_tokens: 9,
        tool_choice: { type: "function", name: "read_file" },
        parallel_tool_calls: true,
        reasoning: { effort: "low" },
        include: ["reasoning.encrypted_content"],
        user: "ada"
      })
    }))
})

describe("an independent server", () => {
  it.live("uses the Responses API", () =>
    Effect.gen(function*() {
      const mock = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const made = new LLMock({ port: 0, logLevel: "silent" })
          await made.start()
          return made
        }),
        (made) => Effect.promise(() => made.stop())
      )
      mock.on({ userMessage: "read a.txt", hasToolResult: false }, {
        toolCalls: [{ name: "read_file", arguments: `{"path":"a.txt"}` }]
      })
      mock.on({ userMessage: "read a.txt", hasToolResult: true }, { content: "It says 42." })
      const provider = OpenAiCompatible.make({
        baseUrl: `${mock.url}/v1`,
        apiKey: "test-key",
        model: "gpt-4o",
        api: "responses"
      })
      const first: Message = { role: "user", content: "read a.txt" }
      const asked = success((yield* stream(provider, request("", { messages: [first], tools: [readFile] }))).result)
      assert.deepStrictEqual(asked.toolCalls.map(({ args, name }) => ({ args, name })), [{
        name: "read_file",
        args: { path: "a.txt" }
      }])
      const messages: ReadonlyArray<Message> = [first, {
        role: "assistant",
        content: asked.text,
        toolCalls: asked.toolCalls
      }, {
        role: "tool",
        toolCallId: asked.toolCalls[0]?.id ?? "",
        toolName: "read_file",
        content: "42"
      }]
      assert.strictEqual((yield* provider.complete(request("", { messages, tools: [readFile] }))).text, "It says 42.")
      const { deltas, result } = yield* stream(provider, request("", { messages, tools: [readFile] }))
      assert.strictEqual(textOf(deltas), success(result).text)
    }))
})
