import { user } from "@belay/core/Message"
import type { ProviderError } from "@belay/core/ProviderError"
import * as AiSdk from "@belay/providers/AiSdk"
import * as Endpoint from "@belay/testing/Endpoint"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { both, bridged, modelAt } from "../support/aiSdkSupport.ts"
import { failure, request, stream, textOf } from "../support/support.ts"

const errorBody = (message: string, code: string | null = null) => ({ error: { message, type: "x", code } })

const errors: { readonly [what: string]: readonly [Endpoint.ScriptEntry, (error: ProviderError) => void] } = {
  "503 as Overloaded, with the vendor's wish": [
    { status: 503, headers: { "retry-after": "7" }, body: errorBody("over capacity") },
    (error) => {
      assert.strictEqual(error._tag, "Overloaded")
      assert.strictEqual("retryAfterMs" in error ? error.retryAfterMs : undefined, 7000)
      assert.strictEqual(error.status, 503)
      assert.strictEqual(error.model, "scripted")
    }
  ],
  "429 as RateLimited, to the millisecond": [
    { status: 429, headers: { "retry-after-ms": "1500" }, body: errorBody("slow down") },
    (error) => {
      assert.strictEqual(error._tag, "RateLimited")
      assert.strictEqual("retryAfterMs" in error ? error.retryAfterMs : undefined, 1500)
    }
  ],
  "401 as Auth, without the key": [
    { status: 401, body: errorBody("Incorrect API key provided: sk-abcdef1234567890") },
    (error) => {
      assert.strictEqual(error._tag, "Auth")
      assert.notInclude(JSON.stringify(error) + error.message, "abcdef1234567890")
    }
  ],
  "404 as NotFound": [
    { status: 404, body: errorBody("The model `x` does not exist", "model_not_found") },
    (error) => assert.strictEqual(error._tag, "NotFound")
  ],
  "an overflow as ContextOverflow, with its numbers": [
    { status: 400, body: errorBody("prompt is too long: 5000 tokens > 4096 maximum", null) },
    (error) => {
      assert.strictEqual(error._tag, "ContextOverflow")
      if (error._tag === "ContextOverflow") assert.deepStrictEqual([error.requested, error.limit], [5000, 4096])
    }
  ],
  "402 as QuotaExceeded": [
    { status: 402, body: errorBody("Insufficient credits") },
    (error) => assert.strictEqual(error._tag, "QuotaExceeded")
  ],
  "500 as ServerError, with a body of bounded length": [
    { status: 500, body: "x".repeat(100_000) },
    (error) => {
      assert.strictEqual(error._tag, "ServerError")
      assert.isAtMost(error.body?.length ?? 0, 2000)
      assert.isAtMost(error.message.length, 1000)
    }
  ],
  "an HTML page with 200 as Malformed": [
    { status: 200, headers: { "content-type": "text/html" }, body: "<html><title>Hi</title></html>" },
    (error) => assert.strictEqual(error._tag, "Malformed")
  ],
  "a reset connection as Connection": [{ connection: "reset" }, (error) => assert.strictEqual(error._tag, "Connection")]
}

describe("a failure of a model of the AI SDK", () => {
  for (const [what, [entry, check]] of Object.entries(errors)) {
    it.live(`is reported: ${what}`, () =>
      Effect.gen(function*() {
        const { endpoint, plain, streamed } = yield* both(entry)
        assert.lengthOf(endpoint.requests, 2)
        for (const result of [plain, streamed.result]) {
          assert.strictEqual(failure(result).provider, "bridge")
          check(failure(result))
        }
      }))
  }

  it.live("inside a stream keeps what had arrived", () =>
    Effect.gen(function*() {
      const first = `data: ${JSON.stringify(Endpoint.delta({ content: "Hel" }))}\n\n`
      const { provider } = yield* bridged([
        { chunks: [first, `data: ${JSON.stringify(errorBody("the server is overloaded"))}\n\n`] },
        { chunks: [first], end: "reset" },
        { chunks: [first] }
      ])
      for (const tag of ["Overloaded", "Connection", "Malformed"]) {
        const { deltas, result } = yield* stream(provider)
        assert.strictEqual(failure(result)._tag, tag)
        assert.strictEqual(failure(result).partial?.text, "Hel")
        assert.strictEqual(textOf(deltas), "Hel")
      }
    }))

  it.effect("before anything is sent is an InvalidRequest", () =>
    Effect.gen(function*() {
      const provider = AiSdk.fromLanguageModel(modelAt("http://127.0.0.1:9/v1"))
      const bad = (mediaType: string, url: string) =>
        request("", { messages: [user([{ type: "file", mediaType, url }])] })
      for (const given of [bad("image/png", "no url"), bad("application/zip", "data:application/zip;base64,AAAA")]) {
        const error = failure(yield* Effect.result(provider.complete(given)))
        assert.strictEqual(error._tag, "InvalidRequest")
        assert.strictEqual(error.provider, "vendor.chat")
      }
    }))
})

describe("an interruption", () => {
  it.live("ends the call to the vendor while the answer is awaited", () =>
    Effect.gen(function*() {
      const asked = Promise.withResolvers<void>()
      const { provider } = yield* bridged([() => (asked.resolve(), { connection: "open" })])
      const fiber = yield* Effect.forkChild(provider.complete(request()))
      yield* Effect.promise(() => asked.promise)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
    }))

  it.live("aborts the vendor's signal in the middle of a stream", () =>
    Effect.gen(function*() {
      const first = `data: ${JSON.stringify(Endpoint.delta({ content: "Hel" }))}\n\n`
      const endpoint = yield* Endpoint.scoped({ script: [{ chunks: [first], end: "open" }] })
      const aborted = yield* Deferred.make<void>()
      const inner = modelAt(endpoint.url)
      const model: AiSdk.Model = {
        specificationVersion: "v4",
        provider: "vendor",
        modelId: "scripted",
        doGenerate: inner.doGenerate.bind(inner),
        doStream: (options: Parameters<typeof inner.doStream>[0]) => {
          options.abortSignal?.addEventListener("abort", () => Deferred.doneUnsafe(aborted, Effect.void))
          return inner.doStream(options)
        }
      }
      const seen = yield* Deferred.make<void>()
      const provider = AiSdk.fromLanguageModel(model)
      const fiber = yield* Effect.forkChild(
        provider.stream?.(request(), () => void Deferred.doneUnsafe(seen, Effect.void)) ?? Effect.never
      )
      yield* Deferred.await(seen)
      yield* Fiber.interrupt(fiber)
      yield* Deferred.await(aborted)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
    }))
})
