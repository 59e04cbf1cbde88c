import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import type { JsonObject } from "@belay/core/Json"
import { assistant, type Message, user } from "@belay/core/Message"
import * as EffectAi from "@belay/providers/EffectAi"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import * as Endpoint from "@belay/testing/Endpoint"
import { assert, describe, it } from "@effect/vitest"
import * as Chat from "effect/ai/Chat"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { readFile, request, scripted, stream, success, textOf } from "../support/support.ts"

const bodyOf = (endpoint: Endpoint.Endpoint, index = 0) => endpoint.requests[index]?.body as JsonObject
const messagesOf = (endpoint: Endpoint.Endpoint, index = 0) =>
  bodyOf(endpoint, index).messages as ReadonlyArray<JsonObject>

const Add = Tool.make("add", {
  description: "Adds two numbers",
  parameters: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
  success: Schema.Finite
})
const toolkit = Toolkit.make(Add)
const handlers = toolkit.toLayer({ add: ({ a, b }) => Effect.succeed(a + b) })

/** Ours, as a model of `effect/ai`, and that as ours again. */
const around = (script: ReadonlyArray<Endpoint.ScriptEntry>) =>
  Effect.gen(function*() {
    const { endpoint, provider } = yield* scripted(script)
    const model = yield* EffectAi.toLanguageModel(provider)
    return { endpoint, provider, model, back: EffectAi.fromLanguageModel(model, { name: "vendor", model: "scripted" }) }
  })

describe("a provider as a model of effect/ai", () => {
  it.live("generates text, with reasoning, usage and finish reason", () =>
    Effect.gen(function*() {
      const { endpoint, model } = yield* around([{ text: "hello there", reasoning: "be polite" }])
      const response = yield* model.generateText({
        prompt: [{ role: "system", content: "Be kind." }, { role: "user", content: "hi" }]
      })
      assert.strictEqual(response.text, "hello there")
      assert.strictEqual(response.reasoningText, "be polite")
      assert.strictEqual(response.finishReason, "stop")
      assert.isAbove(response.usage.inputTokens.total ?? 0, 0)
      assert.deepStrictEqual(messagesOf(endpoint).map(({ content }) => content), ["Be kind.", "hi"])
    }))

  it.live("streams the parts of one text with one id", () =>
    Effect.gen(function*() {
      const { model } = yield* around([{ text: "one two three", reasoning: "count up" }])
      const parts = yield* Stream.runCollect(model.streamText({ prompt: "count" }))
      const text = parts.map((part) => part.type === "text-delta" ? part.delta : "").join("")
      assert.strictEqual(text, "one two three")
      assert.isAbove(parts.filter(({ type }) => type === "text-delta").length, 1)
      const frame = parts.filter(({ type }) => !type.endsWith("-delta")).map(({ type }) => type)
      assert.deepStrictEqual(frame, [
        "reasoning-start",
        "reasoning-end",
        "text-start",
        "text-end",
        "response-metadata",
        "finish"
      ])
    }))

  it.live("streams a complete answer if its provider cannot stream", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{ text: "one two", reasoning: "hm" }])
      const model = yield* EffectAi.toLanguageModel({ name: "plain", complete: provider.complete })
      const parts = yield* Stream.runCollect(model.streamText({ prompt: "count" }))
      const said = parts.map((part) => part.type === "text-delta" || part.type === "reasoning-delta" ? part.delta : "")
        .join("|")
      assert.include(said, "hm")
      assert.include(said, "one two")
    }))

  it.live("lets a toolkit run its tools and continue a chat", () =>
    Effect.gen(function*() {
      const { endpoint, model } = yield* around([
        { toolCalls: [{ id: "c1", name: "add", args: { a: 2, b: 3 } }] },
        { text: "It is 5." }
      ])
      const chat = yield* Chat.empty
      const [first, second] = yield* Effect.gen(function*() {
        const first = yield* chat.generateText({ prompt: "2 + 3?", toolkit })
        return [first, yield* chat.generateText({ prompt: [], toolkit })] as const
      }).pipe(Effect.provideService(LanguageModel.LanguageModel, model), Effect.provide(handlers))
      assert.deepStrictEqual(first.toolResults.map(({ result }) => result), [5])
      assert.strictEqual(second.text, "It is 5.")
      const { description, name, parameters } =
        (bodyOf(endpoint).tools as ReadonlyArray<{ function: JsonObject }>)[0]?.function ?? {}
      assert.strictEqual(name, "add")
      assert.strictEqual(description, "Adds two numbers")
      assert.strictEqual((parameters as JsonObject).type, "object")
      assert.deepStrictEqual(messagesOf(endpoint, 1).map(({ role }) => role), ["user", "assistant", "tool"])
      assert.strictEqual(messagesOf(endpoint, 1)[2]?.content, "5")
    }))

  it.live("lets a toolkit run its tools in a stream", () =>
    Effect.gen(function*() {
      const { model } = yield* around([{ toolCalls: [{ id: "c1", name: "add", args: { a: 2, b: 3 } }] }])
      const parts = yield* Stream.runCollect(model.streamText({ prompt: "2 + 3?", toolkit })).pipe(
        Effect.provide(handlers)
      )
      assert.deepStrictEqual(parts.flatMap((part) => part.type === "tool-result" ? [part.result] : []), [5])
    }))

  it.live("receives the choice of tools", () =>
    Effect.gen(function*() {
      const { endpoint, model } = yield* around(Array.from({ length: 3 }, () => ({ text: "ok" })))
      const ask = (toolChoice: "required" | { tool: "add" } | { mode: "required"; oneOf: ["add"] }) =>
        model.generateText({ prompt: "go", toolkit, toolChoice }).pipe(Effect.provide(handlers))
      yield* ask("required")
      yield* ask({ tool: "add" })
      yield* ask({ mode: "required", oneOf: ["add"] })
      const named = { type: "function", function: { name: "add" } }
      assert.deepStrictEqual([0, 1, 2].map((index) => bodyOf(endpoint, index).tool_choice), ["required", named, named])
    }))

  it.live("generates an object from a schema", () =>
    Effect.gen(function*() {
      const { endpoint, model } = yield* around([{ text: `{"city":"Oslo"}` }])
      const { value } = yield* model.generateObject({
        prompt: "Where?",
        schema: Schema.Struct({ city: Schema.String })
      })
      assert.deepStrictEqual(value, { city: "Oslo" })
      assert.include(JSON.stringify(bodyOf(endpoint).response_format), "city")
    }))

  it.live("reads files in a prompt in every form", () =>
    Effect.gen(function*() {
      const { endpoint, model } = yield* around([{ text: "ok" }])
      const file = (data: string | Uint8Array | URL) => ({ type: "file" as const, mediaType: "image/png", data })
      const content = [
        file("aGVsbG8="),
        file(new TextEncoder().encode("hello")),
        file(new URL("https://example.com/a.png"))
      ]
      yield* model.generateText({ prompt: [{ role: "user", content }] })
      const sent = JSON.stringify(messagesOf(endpoint)[0])
      const urls = [...sent.matchAll(/"url":"([^"]+)"/g)].map(([, url]) => url)
      assert.deepStrictEqual(urls, [
        "data:image/png;base64,aGVsbG8=",
        "data:image/png;base64,aGVsbG8=",
        "https://example.com/a.png"
      ])
    }))
})

describe("a conversion in both directions", () => {
  const entries: ReadonlyArray<Endpoint.ScriptEntry> = [
    { text: "hello there" },
    { text: "42", reasoning: "six times seven" },
    {
      toolCalls: [{ id: "call_a", name: "read_file", args: { path: "a" } }, {
        id: "call_b",
        name: "read_file",
        args: {}
      }]
    }
  ]

  it.live("keeps an answer", () =>
    Effect.gen(function*() {
      const { back, provider } = yield* around([...entries, ...entries, ...entries])
      const given = request("read", { tools: [readFile] })
      const direct = yield* Effect.forEach(entries, () => provider.complete(given))
      const whole = yield* Effect.forEach(entries, () => back.complete(given))
      const streamed = yield* Effect.forEach(entries, () => stream(back, given))
      const bareOf = (responses: typeof direct) =>
        responses.map(({ id: _id, metadata: _, rateLimits: _limits, ...rest }) => rest)
      const bare = bareOf(direct)
      assert.deepStrictEqual(bareOf(whole), bare)
      assert.deepStrictEqual(bareOf(streamed.map(({ result }) => success(result))), bare)
      for (const { id } of whole) assert.match(id ?? "", /^chatcmpl-/)
      assert.strictEqual(textOf(streamed[1]?.deltas ?? [], "reasoning"), "six times seven")
      assert.isTrue(streamed[2]?.deltas.some(({ type }) => type === "tool-call"))
    }))

  it.live("keeps the cost that the vendor reports", () =>
    Effect.gen(function*() {
      const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 125, cost: 0.01 }
      const entry = { chunks: [Endpoint.events({ ...Endpoint.delta({ content: "hi" }, "stop"), usage })] }
      const { back } = yield* around([entry, entry])
      const seen = [yield* back.complete(request()), success((yield* stream(back)).result)]
      for (const one of seen) {
        assert.strictEqual(one.usage?.costUsd, 0.01)
        assert.strictEqual(one.usage?.billableOutputTokens, 25)
      }
    }))

  it.live("keeps a JSON answer", () =>
    Effect.gen(function*() {
      const entry = { text: "Here it is:\n```json\n{\"city\":\"Oslo\"}\n```" }
      const { back, endpoint } = yield* around([entry, entry])
      const schema = { type: "object", properties: { city: { type: "string" } } } as const
      const given = request("Where?", {
        instructions: "Be brief.",
        parameters: { responseFormat: { name: "place", schema } }
      })
      assert.strictEqual((yield* back.complete(given)).text, `{"city":"Oslo"}`)
      assert.strictEqual(success((yield* stream(back, given)).result).text, `{"city":"Oslo"}`)
      assert.include(JSON.stringify(messagesOf(endpoint)[0]), "Be brief.")
      assert.include(JSON.stringify(messagesOf(endpoint)[0]), "city")
    }))

  it.live("sends back the vendor's metadata", () =>
    Effect.gen(function*() {
      const extra_content = { google: { thought_signature: "sig-1" } }
      const call = {
        index: 0,
        id: "call_a",
        type: "function",
        function: { name: "read_file", arguments: `{"path":"a"}` },
        extra_content
      }
      const signed = {
        chunks: [Endpoint.events(
          Endpoint.delta({ reasoning_content: "hm" }),
          Endpoint.delta({ tool_calls: [call] }),
          Endpoint.delta({}, "tool_calls")
        )]
      }
      const { back, endpoint } = yield* around([signed, { text: "ok" }])
      const answer = success((yield* stream(back, request("read", { tools: [readFile] }))).result)
      assert.strictEqual(answer.reasoning, "hm")
      const said: Message = { ...assistant("", answer.toolCalls), reasoning: "hm", metadata: answer.metadata ?? {} }
      yield* back.complete(request("", {
        messages: [user("read"), said, {
          role: "tool",
          toolCallId: "call_a",
          toolName: "read_file",
          content: { lines: 3 },
          isError: true
        }]
      }))
      const [, sent, result] = messagesOf(endpoint, 1)
      assert.deepStrictEqual(
        (sent?.tool_calls as unknown as ReadonlyArray<JsonObject> | undefined)?.map((one) => one.extra_content),
        [
          extra_content
        ]
      )
      assert.strictEqual(sent?.reasoning_content, "hm")
      assert.strictEqual(result?.content, `{"lines":3}`)
    }))

  it.live("passes instructions, files and tools to the endpoint", () =>
    Effect.gen(function*() {
      const { back, endpoint, provider } = yield* around([{ text: "ok" }, { text: "ok" }])
      const png = { type: "file", mediaType: "image/png", url: "data:image/png;base64,aGVsbG8=" } as const
      const given = request("", {
        instructions: "Be brief.",
        messages: [
          user([{ type: "text", text: "look" }, png, { ...png, url: "https://example.com/a.png", filename: "a.png" }]),
          assistant("", [{ id: "1", name: "read_file", args: { path: "a" } }, {
            id: "2",
            name: "read_file",
            args: { path: "b" }
          }]),
          { role: "tool", toolCallId: "1", toolName: "read_file", content: "text of a" },
          { role: "tool", toolCallId: "2", toolName: "read_file", content: [{ type: "text", text: "see" }, png] },
          assistant("done"),
          user("thanks")
        ],
        tools: [readFile],
        parameters: { toolChoice: "required" }
      })
      yield* provider.complete(given)
      yield* back.complete(given)
      const { messages, tool_choice, tools } = bodyOf(endpoint, 1)
      assert.deepStrictEqual(tools, bodyOf(endpoint, 0).tools)
      assert.deepStrictEqual(tool_choice, bodyOf(endpoint, 0).tool_choice)
      const loose = (text: unknown) =>
        JSON.stringify(text).replaceAll("see\\n[image/png]\\n[image/png]", "see\\n[image/png]")
      assert.strictEqual(loose(messages), loose(bodyOf(endpoint, 0).messages))
    }))

  for (const streams of [false, true]) {
    it.live(`an agent runs its tools and ends with ${streams ? "a streamed" : "a plain"} answer`, () =>
      Effect.gen(function*() {
        const { back } = yield* around([
          {
            toolCalls: [{ id: "c1", name: "add", args: { a: 2, b: 3 } }, {
              id: "c2",
              name: "add",
              args: { a: 4, b: 5 }
            }]
          },
          { text: "5 and 9" }
        ])
        const ran: Array<number> = []
        const add = defineTool({
          name: "add",
          description: "Adds",
          input: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
          execute: ({ a, b }) => ran.push(a + b)
        })
        const agent = createAgent({ provider: back, tools: [add] })
        const result = yield* Effect.promise(() => streams ? agent.stream("add").result : agent.run("add"))
        assert.strictEqual(result.text, "5 and 9")
        assert.deepStrictEqual(ran, [5, 9])
        yield* Effect.promise(() => agent.close())
      }))
  }

  it.live("an interruption closes the connection", () =>
    Effect.gen(function*() {
      const first = `data: ${JSON.stringify(Endpoint.delta({ content: "Hel" }))}\n\n`
      const { provider } = yield* scripted([{ chunks: [first], end: "open" }])
      const stopped = yield* Deferred.make<void>()
      const model = yield* EffectAi.toLanguageModel({
        ...provider,
        stream: (given, sink) =>
          Effect.onInterrupt(provider.stream?.(given, sink) ?? Effect.never, () => Deferred.succeed(stopped, undefined))
      })
      const seen = yield* Deferred.make<void>()
      const back = EffectAi.fromLanguageModel(model)
      const fiber = yield* Effect.forkChild(
        back.stream?.(request(), () => void Deferred.doneUnsafe(seen, Effect.void)) ?? Effect.never
      )
      yield* Deferred.await(seen)
      yield* Fiber.interrupt(fiber)
      yield* Deferred.await(stopped)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
    }))

  it.live("uses the original provider below", () =>
    Effect.gen(function*() {
      const endpoint = yield* Endpoint.scoped()
      const provider = OpenAiCompatible.make({ baseUrl: endpoint.url, apiKey: "test-key", model: "demo" })
      const model = yield* EffectAi.toLanguageModel(provider)
      const response = yield* model.generateText({ prompt: "Say hello" })
      assert.isAbove(response.text.length, 0)
    }))
})
