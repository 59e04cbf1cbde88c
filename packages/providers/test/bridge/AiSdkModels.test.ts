import type { LanguageModelV2, LanguageModelV3, LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider"
import { type Message, user } from "@belay/core/Message"
import type { ProviderError } from "@belay/core/ProviderError"
import * as AiSdk from "@belay/providers/AiSdk"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { callOptions } from "../../src/bridge/internal/aiSdkPrompt.ts"
import { failure, request, stream, success } from "../support/support.ts"

/** Vendors reject with what they like. */
const rejected = (thrown: unknown): Promise<never> =>
  new Promise((_, reject) => Reflect.apply(reject, undefined, [thrown]))

describe("older and unusual models", () => {
  const fake = (
    version: string,
    whole: unknown,
    parts: ReadonlyArray<unknown>,
    seen: Array<unknown> = []
  ): AiSdk.Model => ({
    specificationVersion: version,
    provider: "old",
    modelId: "m",
    doGenerate: (options) => (seen.push(options), Promise.resolve(whole)),
    doStream: (options) => (seen.push(options), Promise.resolve({ stream: ReadableStream.from(parts) }))
  })

  it.effect("have sources, files, and tools of the vendor", () =>
    Effect.gen(function*() {
      const search = { toolCallId: "s1", toolName: "web_search", input: "{}", providerExecuted: true }
      const content = [
        { type: "text", text: "hi" },
        { type: "tool-call", ...search },
        { type: "tool-result", toolCallId: "s1", toolName: "web_search", result: ["a"] },
        { type: "source", sourceType: "url", id: "0", url: "https://a.example", title: "A" },
        { type: "source", sourceType: "document", id: "doc-1", mediaType: "application/pdf", title: "B" },
        { type: "file", mediaType: "image/png", data: "AAAA" },
        { type: "file", mediaType: "image/webp", data: { type: "data", data: Uint8Array.of(0, 0, 0) } }
      ]
      const finish = { finishReason: "stop", usage: {} }
      const seen: Array<unknown> = []
      const parts = [{ type: "text-delta", id: "0", delta: "hi" }, ...content.slice(1), { type: "finish", ...finish }]
      const provider = AiSdk.fromLanguageModel(fake("v3", { content, ...finish }, parts, seen))
      const given = request("go", { parameters: { headers: { "x-team": "blue" } } })
      for (const answer of [yield* provider.complete(given), success((yield* stream(provider, given)).result)]) {
        assert.deepStrictEqual(answer.toolCalls, [])
        assert.deepStrictEqual(answer.hostedCalls?.map(({ type }) => type), ["tool-call", "tool-result"])
        assert.deepStrictEqual(answer.citations, [
          { url: "https://a.example", title: "A" },
          { fileId: "doc-1", title: "B" }
        ])
        assert.deepStrictEqual(answer.files, [
          { type: "file", mediaType: "image/png", url: "data:image/png;base64,AAAA" },
          { type: "file", mediaType: "image/webp", url: "data:image/webp;base64,AAAA" }
        ])
      }
      assert.deepInclude(seen[0] as object, { headers: { "x-team": "blue" } })
    }))

  it.effect("of version 2 have flat usage, a plain finish reason, and unwrapped files", () =>
    Effect.gen(function*() {
      const finish = {
        finishReason: "stop",
        usage: { inputTokens: 10, outputTokens: 2, totalTokens: 15, cachedInputTokens: 4, reasoningTokens: 3 }
      }
      const seen: Array<unknown> = []
      const provider = AiSdk.fromLanguageModel(
        fake("v2", { content: [{ type: "text", text: "hi" }], ...finish }, [
          { type: "text-start", id: "0" },
          { type: "text-delta", id: "0", delta: "hi" },
          { type: "text-end", id: "0" },
          { type: "finish", ...finish }
        ], seen)
      )
      const given = request("", {
        messages: [user([{ type: "file", mediaType: "image/png", url: "data:image/png;base64,AAAA" }])]
      })
      const whole = yield* provider.complete(given)
      assert.deepStrictEqual(whole, success((yield* stream(provider, given)).result))
      assert.deepStrictEqual(whole.usage, {
        inputTokens: 10,
        outputTokens: 2,
        billableOutputTokens: 5,
        cachedTokens: 4,
        reasoningTokens: 3
      })
      const { prompt } = seen[0] as {
        readonly prompt: ReadonlyArray<{ readonly content: ReadonlyArray<{ readonly data: unknown }> }>
      }
      assert.strictEqual(prompt[0]?.content[0]?.data, "AAAA")
    }))

  it.effect("receive their signatures again, part by part", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const signed = (n: number) => ({ providerMetadata: { anthropic: { signature: `s${n}` } } })
      const provider = AiSdk.fromLanguageModel(fake("v4", {}, [
        { type: "reasoning-start", id: "0" },
        { type: "reasoning-delta", id: "0", delta: "first" },
        { type: "reasoning-delta", id: "0", delta: "", ...signed(1) },
        { type: "reasoning-end", id: "0" },
        { type: "reasoning-start", id: "1", ...signed(2) },
        { type: "reasoning-end", id: "1" },
        { type: "text-start", id: "0" },
        { type: "text-delta", id: "0", delta: "so" },
        { type: "text-end", id: "0", ...signed(3) },
        { type: "finish", finishReason: { unified: "stop", raw: "end" }, usage: { inputTokens: {}, outputTokens: {} } }
      ], seen))
      const { metadata, reasoning, text, usage } = success((yield* stream(provider)).result)
      assert.isUndefined(usage)
      const said: Message = { role: "assistant", content: text, reasoning: reasoning ?? "", metadata: metadata ?? {} }
      yield* stream(provider, { ...request(), messages: [user("a"), JSON.parse(JSON.stringify(said)), user("b")] })
      const { prompt } = seen[1] as { readonly prompt: ReadonlyArray<{ readonly content: unknown }> }
      assert.deepStrictEqual(prompt[1]?.content, [
        { type: "reasoning", text: "first", providerOptions: { anthropic: { signature: "s1" } } },
        { type: "reasoning", text: "", providerOptions: { anthropic: { signature: "s2" } } },
        { type: "text", text: "so", providerOptions: { anthropic: { signature: "s3" } } }
      ])
    }))

  it.effect("with answers of any other form are Malformed", () =>
    Effect.gen(function*() {
      const odd: ReadonlyArray<unknown> = [null, 1, "text", {}, { content: 1 }, { content: [null, { type: 5 }] }, {
        finishReason: {}
      }]
      for (const whole of odd) {
        const provider = AiSdk.fromLanguageModel(
          fake("v4", whole, [null, whole, { type: "text-delta" }, { type: "tool-call" }])
        )
        assert.strictEqual(failure(yield* Effect.result(provider.complete(request())))._tag, "Malformed")
        assert.strictEqual(failure((yield* stream(provider)).result)._tag, "Malformed")
      }
    }))

  it.effect("without the stream that they promise are Malformed", () =>
    Effect.gen(function*() {
      for (const given of [undefined, {}, { stream: {} }]) {
        const model: AiSdk.Model = { ...fake("v4", {}, []), doStream: () => Promise.resolve(given as never) }
        assert.strictEqual(failure((yield* stream(AiSdk.fromLanguageModel(model))).result)._tag, "Malformed")
      }
    }))

  it.effect("that stop with an unknown error are a ServerError", () =>
    Effect.gen(function*() {
      const provider = AiSdk.fromLanguageModel(fake("v4", { content: [], finishReason: { unified: "error" } }, []))
      assert.strictEqual(failure(yield* Effect.result(provider.complete(request())))._tag, "ServerError")
    }))

  it.effect("run their own tools without calling tools of the agent", () =>
    Effect.gen(function*() {
      const provider = AiSdk.fromLanguageModel(fake("v4", {
        content: [
          { type: "tool-call", toolCallId: "1", toolName: "web_search", input: "{}", providerExecuted: true },
          { type: "tool-result", toolCallId: "1", toolName: "web_search", result: [] },
          { type: "text", text: "found" }
        ],
        finishReason: { unified: "stop" }
      }, []))
      const response = yield* provider.complete(request())
      assert.deepStrictEqual(response.toolCalls, [])
      assert.strictEqual(response.text, "found")
    }))

  it.effect("that throw other values have typed errors", () =>
    Effect.gen(function*() {
      const named = (name: string) => Object.assign(new Error("why"), { name })
      const tags: ReadonlyArray<readonly [unknown, ProviderError["_tag"]]> = [
        [named("AI_LoadAPIKeyError"), "Auth"],
        [named("AI_NoSuchModelError"), "NotFound"],
        [named("AI_InvalidPromptError"), "InvalidRequest"],
        [named("AI_TypeValidationError"), "Malformed"],
        [named("TimeoutError"), "Timeout"],
        [new TypeError("fetch failed"), "Connection"],
        ["overloaded", "Overloaded"],
        [undefined, "ServerError"]
      ]
      for (const [thrown, tag] of tags) {
        const provider = AiSdk.fromLanguageModel({
          ...fake("v4", {}, []),
          doGenerate: () => rejected(thrown)
        })
        assert.strictEqual(failure(yield* Effect.result(provider.complete(request())))._tag, tag)
      }
    }))

  it("accept the types of the AI SDK", () => {
    const options: LanguageModelV4CallOptions = callOptions(
      request(),
      { provider: "p", version: "v4" },
      new AbortController().signal
    )
    const take: (model: LanguageModelV2 | LanguageModelV3 | LanguageModelV4) => unknown = AiSdk.fromLanguageModel
    assert.lengthOf(options.prompt, 1)
    assert.strictEqual(take, AiSdk.fromLanguageModel)
  })
})
