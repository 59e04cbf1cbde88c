import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import type { JsonObject } from "@belay/core/Json"
import { assistant, type Message, user } from "@belay/core/Message"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import * as Endpoint from "@belay/testing/Endpoint"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { both, bridged } from "../support/aiSdkSupport.ts"
import { failure, readFile, request, stream, success, textOf } from "../support/support.ts"

interface WireCall {
  readonly function?: JsonObject
  readonly extra_content?: JsonObject
}

const callsOf = (message: JsonObject | undefined) => (message?.tool_calls ?? []) as unknown as ReadonlyArray<WireCall>
const bodyOf = (endpoint: Endpoint.Endpoint, index = 0): JsonObject => endpoint.requests[index]?.body as JsonObject
const messagesOf = (endpoint: Endpoint.Endpoint, index = 0) =>
  bodyOf(endpoint, index).messages as ReadonlyArray<JsonObject>

describe("a model of the AI SDK", () => {
  it.live("answers with text, plain and streamed", () =>
    Effect.gen(function*() {
      const { plain, streamed } = yield* both({ text: "hello there friend" })
      assert.strictEqual(success(plain).text, "hello there friend")
      const { id, ...answer } = success(plain)
      const { id: streamedId, ...streamedAnswer } = success(streamed.result)
      assert.deepStrictEqual(answer, streamedAnswer)
      for (const one of [id, streamedId]) assert.match(one ?? "", /^chatcmpl-/)
      assert.strictEqual(textOf(streamed.deltas), "hello there friend")
      assert.isAbove(streamed.deltas.length, 1)
      assert.strictEqual(success(plain).finishReason, "stop")
      assert.strictEqual(success(plain).model, "scripted")
      assert.isAbove(success(plain).usage?.inputTokens ?? 0, 0)
    }))

  it.live("gives the same answer as OpenAiCompatible for the same bytes", () =>
    Effect.gen(function*() {
      const entries: ReadonlyArray<Endpoint.ScriptEntry> = [
        { text: "hello" },
        { text: "so", reasoning: "let me think" },
        {
          toolCalls: [{ id: "call_a", name: "read_file", args: { path: "a" } }, {
            id: "call_b",
            name: "read_file",
            args: { path: "b" }
          }]
        }
      ]
      const { endpoint, provider } = yield* bridged([...entries, ...entries])
      const own = OpenAiCompatible.make({ baseUrl: endpoint.url, apiKey: "test-key", model: "scripted" })
      for (const one of [provider, own]) assert.strictEqual(one.model, "scripted")
      const shown = (responses: ReadonlyArray<Effect.Success<ReturnType<typeof own.complete>>>) =>
        responses.map(({ id: _id, metadata: _, rateLimits: _limits, ...rest }) => rest)
      const given = request("read", { tools: [readFile] })
      const theirs = yield* Effect.forEach(entries, () => provider.complete(given))
      const direct = yield* Effect.forEach(entries, () => own.complete(given))
      assert.deepStrictEqual(shown(theirs), shown(direct))
    }))

  it.live("separates reasoning from text and sends it back", () =>
    Effect.gen(function*() {
      const { endpoint, provider } = yield* bridged([{ text: "42", reasoning: "six times seven" }, { text: "yes" }, {
        text: "no"
      }])
      const { deltas, result } = yield* stream(provider)
      const { metadata, reasoning, text } = success(result)
      assert.strictEqual(textOf(deltas, "reasoning"), "six times seven")
      assert.strictEqual(reasoning, "six times seven")
      const said: Message = {
        ...assistant(text),
        ...(reasoning === undefined ? {} : { reasoning }),
        ...(metadata ? { metadata } : {})
      }
      yield* provider.complete({ ...request(), messages: [user("why"), said, user("sure?")] })
      assert.strictEqual(messagesOf(endpoint, 1)[1]?.reasoning_content, "six times seven")
      assert.strictEqual(messagesOf(endpoint, 1)[1]?.content, "42")
      yield* provider.complete({ ...request(), messages: [user("why"), { ...said, content: "43" }, user("sure?")] })
      assert.isUndefined(messagesOf(endpoint, 2)[1]?.reasoning_content)
      assert.strictEqual(messagesOf(endpoint, 2)[1]?.content, "43")
    }))

  it.live("receives instructions, parameters, tools and files", () =>
    Effect.gen(function*() {
      const { endpoint, provider } = yield* bridged([{ text: "ok" }])
      yield* provider.complete(request("", {
        instructions: "Be brief.",
        messages: [user([
          { type: "text", text: "look" },
          { type: "file", mediaType: "image/png", url: "data:image/png;base64,aGVsbG8=" },
          { type: "file", mediaType: "image/png", url: "https://example.com/a.png" },
          { type: "file", mediaType: "text/plain", url: "data:text/plain,caf%C3%A9" }
        ])],
        tools: [readFile],
        parameters: {
          temperature: 0.5,
          topP: 0.9,
          maxTokens: 50,
          seed: 7,
          stop: ["END"],
          toolChoice: { tool: "read_file" },
          reasoningEffort: "low",
          extra: { vendor: { user: "u1" }, ignored: 1 }
        }
      }))
      const body = bodyOf(endpoint)
      assert.deepStrictEqual(body.messages, [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "look" },
            { type: "image_url", image_url: { url: "data:image/png;base64,aGVsbG8=" } },
            { type: "image_url", image_url: { url: "https://example.com/a.png" } },
            { type: "text", text: "café" }
          ]
        }
      ])
      assert.strictEqual(body.temperature, 0.5)
      assert.strictEqual(body.top_p, 0.9)
      assert.strictEqual(body.max_tokens, 50)
      assert.strictEqual(body.seed, 7)
      assert.deepStrictEqual(body.stop, ["END"])
      assert.strictEqual(body.user, "u1")
      assert.strictEqual(body.reasoning_effort, "low")
      assert.deepStrictEqual(body.tool_choice, { type: "function", function: { name: "read_file" } })
      assert.deepStrictEqual((body.tools as ReadonlyArray<JsonObject>)[0]?.function, {
        name: "read_file",
        description: "Reads a file",
        parameters: readFile.inputSchema
      })
    }))

  it.live("receives the results of one step in one message, and their files after it", () =>
    Effect.gen(function*() {
      const { endpoint, provider } = yield* bridged([{ text: "ok" }])
      const png = "data:image/png;base64,aGVsbG8="
      yield* provider.complete(request("", {
        messages: [
          user("go"),
          assistant("", [{ id: "1", name: "shot", args: null }, { id: "2", name: "add", args: { a: 1 } }]),
          {
            role: "tool",
            toolCallId: "1",
            toolName: "shot",
            content: [{ type: "file", mediaType: "image/png", url: png }]
          },
          { role: "tool", toolCallId: "2", toolName: "add", content: { sum: 3 }, isError: true },
          assistant("done")
        ]
      }))
      const messages = messagesOf(endpoint)
      assert.deepStrictEqual(messages.map(({ role }) => role), [
        "user",
        "assistant",
        "tool",
        "tool",
        "user",
        "assistant"
      ])
      assert.strictEqual(callsOf(messages[1])[0]?.function?.arguments, "{}")
      assert.strictEqual(messages[3]?.content, `{"sum":3}`)
      assert.include(JSON.stringify(messages[4]), png)
    }))

  it.live("answers with JSON for a schema, even if it does not support response formats", () =>
    Effect.gen(function*() {
      const schema = { type: "object", properties: { city: { type: "string" } } } as const
      const given = request("Where?", { parameters: { responseFormat: { name: "place", schema } } })
      const { endpoint, plain, streamed } = yield* both({ text: "Sure:\n```json\n{\"city\":\"Oslo\"}\n```" }, given)
      assert.strictEqual(success(plain).text, `{"city":"Oslo"}`)
      assert.strictEqual(success(streamed.result).text, `{"city":"Oslo"}`)
      assert.deepStrictEqual(bodyOf(endpoint).response_format, { type: "json_object" })
      assert.include(JSON.stringify(messagesOf(endpoint)[0]), "city")
    }))

  it.live("requests tools, plain and streamed", () =>
    Effect.gen(function*() {
      const entry = { toolCalls: [{ id: "call_a", name: "read_file", args: { path: "a.txt" } }] }
      const { plain, streamed } = yield* both(entry, request("read", { tools: [readFile] }))
      assert.deepStrictEqual(success(plain).toolCalls, [{ id: "call_a", name: "read_file", args: { path: "a.txt" } }])
      assert.strictEqual(success(plain).finishReason, "tool-calls")
      assert.deepStrictEqual(success(streamed.result).toolCalls, success(plain).toolCalls)
      const shown = streamed.deltas.flatMap((delta) => delta.type === "tool-call" ? [delta] : [])
      assert.strictEqual(shown.map((delta) => delta.argsText).join(""), `{"path":"a.txt"}`)
      assert.deepStrictEqual([...new Set(shown.map(({ id, name }) => `${id} ${name}`))], ["call_a read_file"])
    }))

  it.live("receives the vendor's metadata of a tool call again", () =>
    Effect.gen(function*() {
      const extra_content = { google: { thought_signature: "sig-1" } }
      const call = {
        index: 0,
        id: "call_a",
        type: "function",
        function: { name: "read_file", arguments: `{"path":"a"}` },
        extra_content
      }
      const { endpoint, provider } = yield* bridged([
        { chunks: [Endpoint.events(Endpoint.delta({ tool_calls: [call] }), Endpoint.delta({}, "tool_calls"))] },
        { text: "ok" }
      ])
      const { toolCalls } = success((yield* stream(provider, request("read", { tools: [readFile] }))).result)
      yield* provider.complete(request("", {
        messages: [user("read"), assistant("", toolCalls), {
          role: "tool",
          toolCallId: "call_a",
          toolName: "read_file",
          content: "x"
        }]
      }))
      assert.deepStrictEqual(callsOf(messagesOf(endpoint, 1)[1])[0]?.extra_content, extra_content)
    }))

  it.live("never returns a tool call that the token limit cut off", () =>
    Effect.gen(function*() {
      const call = {
        index: 0,
        id: "call_a",
        type: "function",
        function: { name: "read_file", arguments: `{"path":"a` }
      }
      const { provider } = yield* bridged([
        { chunks: [Endpoint.events(Endpoint.delta({ tool_calls: [call] }), Endpoint.delta({}, "length"))] }
      ])
      const response = success((yield* stream(provider, request("read", { tools: [readFile] }))).result)
      assert.deepStrictEqual(response.toolCalls, [])
      assert.strictEqual(response.finishReason, "length")
    }))

  it.live("reports cached and reasoning tokens, and the vendor's own price", () =>
    Effect.gen(function*() {
      const usage = {
        prompt_tokens: 100,
        completion_tokens: 20,
        total_tokens: 120,
        prompt_tokens_details: { cached_tokens: 60 },
        completion_tokens_details: { reasoning_tokens: 5 },
        cost: 0.01
      }
      const { provider } = yield* bridged([
        { chunks: [Endpoint.events({ ...Endpoint.delta({ content: "hi" }), usage }, Endpoint.delta({}, "stop"))] },
        { chunks: [Endpoint.events(Endpoint.delta({ content: "hi" }), Endpoint.delta({}, "stop"))] }
      ])
      assert.deepStrictEqual(success((yield* stream(provider)).result).usage, {
        inputTokens: 100,
        outputTokens: 20,
        billableOutputTokens: 20,
        cachedTokens: 60,
        reasoningTokens: 5,
        costUsd: 0.01
      })
      assert.isUndefined(success((yield* stream(provider)).result).usage)
    }))

  it.live("refuses a request for another model", () =>
    Effect.gen(function*() {
      const { endpoint, provider } = yield* bridged([{ text: "hi" }])
      const error = failure(yield* Effect.result(provider.complete(request("hi", { model: "other" }))))
      assert.strictEqual(error._tag, "NotFound")
      assert.lengthOf(endpoint.requests, 0)
      assert.strictEqual((yield* provider.complete(request("hi", { model: "scripted" }))).text, "hi")
    }))
})

describe("an agent on a model of the AI SDK", () => {
  for (const streams of [false, true]) {
    it.live(`runs its tools and ends with ${streams ? "a streamed" : "a plain"} answer`, () =>
      Effect.gen(function*() {
        const { endpoint, provider } = yield* bridged([
          {
            toolCalls: [{ id: "c1", name: "add", args: { a: 2, b: 3 } }, {
              id: "c2",
              name: "add",
              args: { a: 4, b: 5 }
            }]
          },
          { text: "5 and 9" }
        ])
        const add = defineTool({
          name: "add",
          description: "Adds",
          input: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
          execute: ({ a, b }) => a + b
        })
        const agent = createAgent({ provider, tools: [add] })
        const result = yield* Effect.promise(async () => {
          if (!streams) return agent.run("add")
          const run = agent.stream("add")
          let text = ""
          for await (const event of run) if (event.type === "text-delta") text += event.text
          assert.strictEqual(text, "5 and 9")
          return run.result
        })
        assert.strictEqual(result.text, "5 and 9")
        assert.deepStrictEqual(
          messagesOf(endpoint, 1).filter(({ role }) => role === "tool").map((
            { content, tool_call_id }
          ) => [tool_call_id, content]),
          [["c1", "5"], ["c2", "9"]]
        )
        yield* Effect.promise(() => agent.close())
      }))
  }
})
