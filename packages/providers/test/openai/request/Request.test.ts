import type { Json, JsonObject } from "@belay/core/Json"
import type { LlmRequest } from "@belay/core/LlmCall"
import type { Message } from "@belay/core/Message"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFile, request, scripted, stream, success } from "../../support/support.ts"

/** What arrives at the endpoint. */
const sent = (
  given: Partial<LlmRequest>,
  compat: Partial<OpenAiCompatible.Compat> = {},
  options: OpenAiCompatible.Options = {}
) =>
  Effect.gen(function*() {
    const { endpoint, provider } = yield* scripted([{ status: 200, body: answer }], { compat, ...options })
    yield* provider.complete(request("go", given))
    return endpoint.requests[0]?.body as JsonObject
  })

const answer = { choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }] }
const messagesOf = (body: JsonObject) => body.messages as ReadonlyArray<Json>
const called: ReadonlyArray<Message> = [
  { role: "user", content: "go" },
  {
    role: "assistant",
    content: "",
    toolCalls: [{ id: "call_1", name: "read_file", args: { path: "a" } }],
    reasoning: "so",
    metadata: { vendor: { reasoningField: "reasoning_content" } }
  },
  { role: "tool", toolCallId: "call_1", toolName: "read_file", content: "text" }
]

describe("the body of a request has", () => {
  it.live("the instructions first, and all other fields with the names of the vendors", () =>
    Effect.gen(function*() {
      const body = yield* sent({
        instructions: "Be brief",
        tools: [readFile],
        parameters: {
          temperature: 0.5,
          topP: 0.9,
          maxTokens: 100,
          stop: ["END"],
          seed: 7,
          toolChoice: { tool: "read_file" },
          parallelToolCalls: false,
          reasoningEffort: "low",
          extra: { user: "ada" }
        }
      })
      assert.deepStrictEqual(body, {
        model: "scripted",
        messages: [{ role: "system", content: "Be brief" }, { role: "user", content: "go" }],
        tools: [{
          type: "function",
          function: { name: "read_file", description: "Reads a file", parameters: readFile.inputSchema }
        }],
        temperature: 0.5,
        top_p: 0.9,
        max_tokens: 100,
        stop: ["END"],
        seed: 7,
        tool_choice: { type: "function", function: { name: "read_file" } },
        parallel_tool_calls: false,
        reasoning_effort: "low",
        user: "ada"
      })
    }))

  it.live("no tool options without tools", () =>
    Effect.gen(function*() {
      const body = yield* sent({ parameters: { toolChoice: "auto", parallelToolCalls: true } })
      assert.deepStrictEqual(Object.keys(body), ["model", "messages"])
    }))

  it.live("null as content next to tool calls, the reasoning, and the result", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(messagesOf(yield* sent({ messages: called })).slice(1), [
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "call_1", type: "function", function: { name: "read_file", arguments: `{"path":"a"}` } }],
          reasoning_content: "so"
        },
        { role: "tool", tool_call_id: "call_1", content: "text" }
      ])
    }))

  it.live("pictures and documents as parts", () =>
    Effect.gen(function*() {
      const [message] = messagesOf(
        yield* sent({
          messages: [{
            role: "user",
            content: [
              { type: "text", text: "look" },
              { type: "file", mediaType: "image/png", url: "data:image/png;base64,AAAA" },
              {
                type: "file",
                mediaType: "application/pdf",
                url: "data:application/pdf;base64,AAAA",
                filename: "a.pdf"
              },
              { type: "file", mediaType: "audio/wav", url: "data:audio/wav;base64,AAAA" },
              { type: "file", mediaType: "text/csv", url: "https://example.com/a.csv", filename: "a.csv" }
            ]
          }]
        })
      )
      assert.deepStrictEqual((message as JsonObject).content, [
        { type: "text", text: "look" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
        { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" } },
        { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
        { type: "text", text: "[a.csv](https://example.com/a.csv)" }
      ])
    }))

  it.live("pictures of a tool result in a separate message", () =>
    Effect.gen(function*() {
      const picture = { type: "file", mediaType: "image/png", url: "data:image/png;base64,AAAA", filename: "a.png" }
      const messages = messagesOf(
        yield* sent({
          messages: [...called.slice(0, 2), {
            role: "tool",
            toolCallId: "call_1",
            toolName: "read_file",
            content: [{ type: "text", text: "see" }, picture]
          }]
        })
      )
      assert.deepStrictEqual(messages.slice(2), [
        { role: "tool", tool_call_id: "call_1", content: "see\n[a.png]" },
        {
          role: "user",
          content: [{ type: "text", text: "Files of the result of read_file:" }, {
            type: "image_url",
            image_url: { url: "data:image/png;base64,AAAA" }
          }]
        }
      ])
    }))

  it.live("results that are not text as JSON", () =>
    Effect.gen(function*() {
      const messages = messagesOf(
        yield* sent({
          messages: [...called.slice(0, 2), {
            role: "tool",
            toolCallId: "call_1",
            toolName: "read_file",
            content: { n: [1, null] }
          }]
        })
      )
      assert.strictEqual((messages[2] as JsonObject).content, `{"n":[1,null]}`)
    }))

  it.live("no half surrogate pairs", () =>
    Effect.gen(function*() {
      const messages = messagesOf(
        yield* sent({
          instructions: "a\ud83d",
          messages: [{ role: "user", content: "whole 👋, half \udc4b, and the text \\ud83d" }]
        })
      )
      assert.deepStrictEqual(messages, [{ role: "system", content: "a\ufffd" }, {
        role: "user",
        content: "whole 👋, half \ufffd, and the text \\ud83d"
      }])
    }))

  it.live("valid arguments even if the model wrote none", () =>
    Effect.gen(function*() {
      const messages = messagesOf(
        yield* sent({
          messages: [called[0] as Message, {
            role: "assistant",
            content: "",
            toolCalls: [{ id: "call_1", name: "f", args: null, malformed: "{{{" }]
          }, called[2] as Message]
        })
      )
      assert.deepInclude(messages[1], {
        tool_calls: [{ id: "call_1", type: "function", function: { name: "f", arguments: "{}" } }]
      })
    }))

  it.live("a request for usage when it streams", () =>
    Effect.gen(function*() {
      const { endpoint, provider } = yield* scripted([{ text: "hi" }])
      assert.isDefined(success((yield* stream(provider)).result).usage)
      const body = endpoint.requests[0]?.body as JsonObject
      assert.strictEqual(body.stream, true)
      assert.deepStrictEqual(body.stream_options, { include_usage: true })
    }))
})

describe("an endpoint that differs gets", () => {
  it.live("another field for the token limit, and another role", () =>
    Effect.gen(function*() {
      const body = yield* sent({ instructions: "Be brief", parameters: { maxTokens: 5, temperature: 1 } }, {
        maxTokensField: "max_completion_tokens",
        systemRole: "developer",
        sampling: false,
        extraBody: { service_tier: "flex" }
      })
      assert.deepStrictEqual(body, {
        model: "scripted",
        messages: [{ role: "developer", content: "Be brief" }, { role: "user", content: "go" }],
        service_tier: "flex",
        max_completion_tokens: 5
      })
    }))

  it.live("ids it accepts, the same for the call and its result", () =>
    Effect.gen(function*() {
      const long = `call_${"x".repeat(60)}`
      const transcript: ReadonlyArray<Message> = [
        { role: "user", content: "go" },
        {
          role: "assistant",
          content: "",
          toolCalls: [{ id: long, name: "f", args: {} }, { id: "a b", name: "f", args: {} }]
        },
        { role: "tool", toolCallId: long, toolName: "f", content: "1" },
        { role: "tool", toolCallId: "a b", toolName: "f", content: "2" }
      ]
      for (
        const [compat, pattern] of [[{}, /^[\w.:-]{1,40}$/], [{ toolIds: "alphanumeric-9" }, /^[a-z0-9]{9}$/]] as const
      ) {
        const messages = messagesOf(yield* sent({ messages: transcript }, compat)) as ReadonlyArray<JsonObject>
        const calls = (messages[1]?.tool_calls ?? []) as ReadonlyArray<{ readonly id: string }>
        const ids = calls.map((call) => call.id)
        assert.deepStrictEqual(messages.slice(2).map((message) => message.tool_call_id), ids)
        for (const id of ids) assert.match(id, pattern)
        assert.lengthOf(new Set(ids), 2)
      }
    }))

  it.live("the name of the tool with its result, an empty list of tools, and auto for required", () =>
    Effect.gen(function*() {
      const named = yield* sent({ messages: called }, { toolResultName: true, emptyTools: true })
      assert.strictEqual((messagesOf(named)[2] as JsonObject).name, "read_file")
      assert.deepStrictEqual(named.tools, [])
      assert.isFalse("tools" in (yield* sent({}, { emptyTools: true })))
      const auto = yield* sent({ tools: [readFile], parameters: { toolChoice: "required", parallelToolCalls: true } }, {
        toolChoiceRequired: false,
        parallelToolCalls: false
      })
      assert.strictEqual(auto.tool_choice, "auto")
      assert.isFalse("parallel_tool_calls" in auto)
    }))

  it.live("its own field for reasoning", () =>
    Effect.gen(function*() {
      const parameters = { reasoningEffort: "high" }
      assert.deepInclude(yield* sent({ parameters }, { reasoning: "openrouter" }), { reasoning: { effort: "high" } })
      assert.deepInclude(yield* sent({ parameters }, { reasoning: "thinking" }), { thinking: { type: "enabled" } })
      assert.deepInclude(yield* sent({ parameters: { reasoningEffort: "none" } }, { reasoning: "thinking" }), {
        thinking: { type: "disabled" }
      })
      assert.deepInclude(yield* sent({ parameters }, { reasoning: "enable_thinking" }), { enable_thinking: true })
      assert.notInclude(JSON.stringify(yield* sent({ parameters }, { reasoning: "none" })), "high")
    }))

  it.live("no reasoning of another provider", () =>
    Effect.gen(function*() {
      const [, message] = messagesOf(
        yield* sent({ messages: called }, { reasoningReplay: "always" }, { name: "another" })
      )
      assert.isFalse("reasoning_content" in (message as JsonObject))
    }))

  it.live("reasoning in the form it came in", () =>
    Effect.gen(function*() {
      const said = (
        metadata: JsonObject
      ): ReadonlyArray<Message> => [{ role: "user", content: "go" }, {
        role: "assistant",
        content: "hi",
        reasoning: "so",
        metadata: { vendor: metadata }
      }, { role: "user", content: "on" }]
      const one = (messages: ReadonlyArray<Message>, replay: "always" | "with-tools") =>
        Effect.map(sent({ messages }, { reasoningReplay: replay }), (body) => messagesOf(body)[1] as JsonObject)
      assert.deepStrictEqual(
        yield* one(said({ reasoningField: "reasoning", reasoningDetails: [{ type: "x" }] }), "always"),
        {
          role: "assistant",
          content: "hi",
          reasoning_details: [{ type: "x" }]
        }
      )
      assert.deepStrictEqual(yield* one(said({ reasoningField: "content" }), "always"), {
        role: "assistant",
        content: [{ type: "thinking", thinking: [{ type: "text", text: "so" }] }, { type: "text", text: "hi" }]
      })
      assert.deepStrictEqual(yield* one(said({ reasoningField: "reasoning" }), "with-tools"), {
        role: "assistant",
        content: "hi"
      })
      assert.deepStrictEqual(yield* one(said({ extra_content: { a: 1 } }), "with-tools"), {
        role: "assistant",
        content: "hi",
        extra_content: { a: 1 }
      })
    }))

  it.live("a second request without stream_options when it refuses them, and no third", () =>
    Effect.gen(function*() {
      const refusal = {
        status: 400,
        body: { error: { message: "Unknown parameter: 'stream_options'", type: "invalid_request_error" } }
      }
      const { endpoint, provider } = yield* scripted([refusal, { text: "hi" }, { text: "hi" }, refusal])
      assert.strictEqual(success((yield* stream(provider)).result).text, "hi")
      assert.strictEqual(success((yield* stream(provider)).result).text, "hi")
      assert.deepStrictEqual(endpoint.requests.map(({ body }) => "stream_options" in (body as JsonObject)), [
        true,
        false,
        false
      ])
      assert.strictEqual((yield* stream(provider)).result._tag, "Failure")
      assert.lengthOf(endpoint.requests, 4)
    }))
})

describe("a tool call goes back", () => {
  it.live("with the signature that it arrived with", () =>
    Effect.gen(function*() {
      const body = yield* sent({
        messages: [
          { role: "user", content: "go" },
          {
            role: "assistant",
            content: "",
            toolCalls: [
              { id: "a", name: "f", args: {}, metadata: { vendor: { extra_content: { sig: 1 } } } },
              { id: "b", name: "f", args: {}, metadata: { another: { extra_content: { sig: 2 } } } }
            ]
          },
          { role: "tool", toolCallId: "a", toolName: "f", content: "1" },
          { role: "tool", toolCallId: "b", toolName: "f", content: "2" }
        ]
      })
      assert.deepInclude(messagesOf(body)[1], {
        tool_calls: [
          { id: "a", type: "function", function: { name: "f", arguments: "{}" }, extra_content: { sig: 1 } },
          { id: "b", type: "function", function: { name: "f", arguments: "{}" } }
        ]
      })
    }))
})
