import * as Errors from "@belay/core/ProviderError"
import * as EffectAi from "@belay/providers/EffectAi"
import * as Endpoint from "@belay/testing/Endpoint"
import { assert, describe, it } from "@effect/vitest"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { failure, request, scripted, stream, textOf } from "../support/support.ts"

const about = { provider: "p", message: "why", model: "m" }

const ours: ReadonlyArray<readonly [Errors.ProviderError, AiError.AiErrorReason["_tag"], boolean]> = [
  [new Errors.RateLimited({ ...about, status: 429, retryAfterMs: 1500 }), "RateLimitError", true],
  [new Errors.Overloaded({ ...about, status: 503, body: "full" }), "InternalProviderError", true],
  [new Errors.QuotaExceeded(about), "QuotaExhaustedError", false],
  [new Errors.Auth({ ...about, status: 401 }), "AuthenticationError", false],
  [new Errors.Permission(about), "AuthenticationError", false],
  [new Errors.NotFound({ ...about, status: 404 }), "InvalidRequestError", false],
  [new Errors.ContextOverflow({ ...about, requested: 5, limit: 4 }), "InvalidRequestError", false],
  [new Errors.ContentFiltered(about), "ContentPolicyError", false],
  [new Errors.ToolUseFailed(about), "InvalidOutputError", true],
  [new Errors.InvalidRequest({ ...about, param: "n" }), "InvalidRequestError", false],
  [new Errors.ServerError({ ...about, status: 500 }), "InternalProviderError", true],
  [new Errors.Timeout({ ...about, phase: "idle" }), "NetworkError", true],
  [new Errors.Connection(about), "NetworkError", true],
  [new Errors.Malformed({ ...about, partial: { text: "Hel" } }), "InvalidOutputError", true]
]

const theirs: ReadonlyArray<readonly [AiError.AiErrorReason, Errors.ProviderError["_tag"]]> = [
  [new AiError.RateLimitError({ retryAfter: Duration.seconds(2) }), "RateLimited"],
  [new AiError.RateLimitError({}), "RateLimited"],
  [new AiError.QuotaExhaustedError({}), "QuotaExceeded"],
  [new AiError.AuthenticationError({ kind: "MissingKey" }), "Auth"],
  [new AiError.AuthenticationError({ kind: "InsufficientPermissions" }), "Permission"],
  [new AiError.ContentPolicyError({ description: "no" }), "ContentFiltered"],
  [new AiError.InvalidRequestError({ parameter: "n", description: "n is wrong" }), "InvalidRequest"],
  [
    new AiError.InvalidRequestError({ description: "prompt is too long: 5000 tokens > 4096 maximum" }),
    "ContextOverflow"
  ],
  [new AiError.InternalProviderError({ description: "oops" }), "ServerError"],
  [new AiError.UnknownError({}), "ServerError"],
  [new AiError.InvalidResponseError({ description: "no JSON" }), "Malformed"],
  [new AiError.NetworkError({ reason: "TransportError", method: "POST", url: "http://x" }), "Connection"],
  [new AiError.InvalidUserInputError({ description: "no" }), "InvalidRequest"],
  [
    new AiError.InternalProviderError({
      description: "busy",
      http: { response: { status: 503, headers: { "Retry-After": "3" } }, body: `{"error":{"message":"full"}}` }
    }),
    "Overloaded"
  ]
]

const failing = (error: AiError.AiError, inStream = false) =>
  LanguageModel.make({
    generateText: () => Effect.fail(error),
    streamText: () =>
      inStream
        ? Stream.make({ type: "text-start", id: "0" }, { type: "text-delta", id: "0", delta: "Hel" }, {
          type: "error",
          error
        })
        : Stream.fail(error)
  })

describe("an error of Belay", () => {
  for (const [error, reason, isRetryable] of ours) {
    it.effect(`${error._tag} becomes ${reason} in effect/ai, and ${error._tag} again`, () =>
      Effect.gen(function*() {
        const model = yield* EffectAi.toLanguageModel({
          name: "p",
          complete: () => Effect.fail(error),
          stream: () => Effect.fail(error)
        })
        for (
          const asked of [model.generateText({ prompt: "hi" }), Stream.runDrain(model.streamText({ prompt: "hi" }))]
        ) {
          const seen = yield* Effect.flip<unknown, AiError.AiError, never>(asked)
          assert.strictEqual(seen.reason._tag, reason)
          assert.strictEqual(seen.isRetryable, isRetryable)
          assert.strictEqual(seen.module, "p")
        }
        const back = EffectAi.fromLanguageModel(model)
        assert.strictEqual(failure(yield* Effect.result(back.complete(request()))), error)
        assert.strictEqual(failure((yield* stream(back)).result), error)
      }))
  }

  it.live("after the first words is reported after them", () =>
    Effect.gen(function*() {
      const first = `data: ${JSON.stringify(Endpoint.delta({ content: "Hel" }))}\n\n`
      const { provider } = yield* scripted([{ chunks: [first], end: "reset" }])
      const back = EffectAi.fromLanguageModel(yield* EffectAi.toLanguageModel(provider))
      const { deltas, result } = yield* stream(back)
      assert.strictEqual(textOf(deltas), "Hel")
      assert.strictEqual(failure(result)._tag, "Connection")
      assert.strictEqual(failure(result).partial?.text, "Hel")
    }))
})

describe("an error of effect/ai", () => {
  for (const [reason, tag] of theirs) {
    it.effect(`${reason._tag} is ${tag} (${reason.message.slice(0, 40)})`, () =>
      Effect.gen(function*() {
        const error = AiError.make({ module: "Vendor", method: "m", reason })
        const provider = EffectAi.fromLanguageModel(yield* failing(error), { name: "p" })
        const seen = [
          failure(yield* Effect.result(provider.complete(request()))),
          failure((yield* stream(provider)).result)
        ]
        for (const one of seen) {
          assert.strictEqual(one._tag, tag)
          assert.strictEqual(one.provider, "p")
        }
        const wish = Errors.retryAfterMs(seen[0] ?? new Errors.Malformed(about))
        if (reason._tag === "RateLimitError" && reason.retryAfter !== undefined) assert.strictEqual(wish, 2000)
        if (tag === "Overloaded") assert.strictEqual(wish, 3000)
      }))
  }

  it.effect("inside a stream keeps what had arrived", () =>
    Effect.gen(function*() {
      const error = AiError.make({
        module: "Vendor",
        method: "m",
        reason: new AiError.InternalProviderError({ description: "oops" })
      })
      const { deltas, result } = yield* stream(EffectAi.fromLanguageModel(yield* failing(error, true)))
      assert.strictEqual(textOf(deltas), "Hel")
      assert.strictEqual(failure(result)._tag, "ServerError")
      assert.strictEqual(failure(result).partial?.text, "Hel")
    }))
})

describe("an unsupported request", () => {
  it.effect("for another model fails", () =>
    Effect.gen(function*() {
      const model = yield* EffectAi.toLanguageModel({ name: "p", complete: () => Effect.die(new Error("asked")) })
      const provider = EffectAi.fromLanguageModel(model)
      assert.strictEqual(provider.name, "effect-ai")
      assert.strictEqual(
        failure(yield* Effect.result(provider.complete(request("hi", { model: "other" }))))._tag,
        "NotFound"
      )
    }))

  it.effect("with a tool that the vendor runs fails", () =>
    Effect.gen(function*() {
      const model = yield* EffectAi.toLanguageModel({ name: "p", complete: () => Effect.die(new Error("asked")) })
      const Search = Tool.providerDefined({ id: "vendor.search", customName: "Search", providerName: "search" })()
      const asked = model.generateText({ prompt: "hi", toolkit: Toolkit.make(Search), disableToolCallResolution: true })
      assert.strictEqual((yield* Effect.flip(asked)).reason._tag, "ToolConfigurationError")
    }))
})
