/** The laws of providers hold for the providers here, and name what is wrong with those that break them. */
import type { LlmResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import * as ProviderError from "@belay/core/ProviderError"
import * as AiSdk from "@belay/providers/AiSdk"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import * as ProviderLaws from "@belay/testing/ProviderLaws"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { modelAt } from "./support/aiSdkSupport.ts"
import { plainProvider } from "./support/plainProvider.ts"

const real = ({ url }: { readonly url: string }): LlmProvider =>
  OpenAiCompatible.make({ baseUrl: url, apiKey: "test-key", model: "scripted", name: "vendor" })

/** The real provider with a mistake in each way to call it. */
const spoilt =
  (spoil: (call: LlmProvider["complete"], provider: LlmProvider) => LlmProvider["complete"]) =>
  (endpoint: { readonly url: string }): LlmProvider => {
    const provider = real(endpoint)
    return {
      ...provider,
      complete: spoil(provider.complete, provider),
      stream: (request, sink) => spoil((given) => provider.stream!(given, sink), provider)(request)
    }
  }
/** The real provider that answers something else. */
const answering = (change: (response: LlmResponse) => LlmResponse) =>
  spoilt((call) => (request) => Effect.map(call(request), change))

const bugs: ReadonlyArray<
  readonly [what: string, make: (endpoint: { readonly url: string }) => LlmProvider, caught: ReadonlyArray<string>]
> = [
  [
    "counts usage that nobody reported",
    answering((one) => ({ ...one, usage: one.usage ?? { inputTokens: 0, outputTokens: 0 } })),
    [
      "complete: usage that is not reported is absent, never zero",
      "stream: usage that is not reported is absent, never zero"
    ]
  ],
  ["retries by itself", spoilt((call) => (request) => Effect.catch(call(request), () => call(request))), [
    "complete: a model that fails (rate-limited) is a typed error, and is asked once",
    "stream: a model that fails (server) is a typed error, and is asked once"
  ]],
  [
    "fails with errors of its own",
    spoilt((call) => (request) => Effect.mapError(call(request), ({ message }) => new Error(message) as never)),
    [
      "complete: a model that fails (unauthorized) is a typed error, and is asked once",
      "stream: a model that fails (cut) is a typed error, and is asked once"
    ]
  ],
  [
    "takes every failure for the same",
    spoilt((call) => (request) =>
      Effect.mapError(call(request), ({ message }) => new ProviderError.Connection({ provider: "vendor", message }))
    ),
    [
      "complete: a model that fails (unauthorized) is a typed error, and is asked once"
    ]
  ],
  [
    "swallows failures",
    spoilt((call) => (request) =>
      Effect.catch(
        call(request),
        () => Effect.succeed({ model: "m", text: "", toolCalls: [], finishReason: "stop" } as const)
      )
    ),
    [
      "complete: a model that fails (garbage) is a typed error, and is asked once",
      "stream: a model that fails (cut) is a typed error, and is asked once"
    ]
  ],
  ["cannot be interrupted", spoilt((call) => (request) => Effect.uninterruptible(call(request))), [
    "complete: a cancelled call ends at once",
    "stream: a cancelled call ends at once"
  ]],
  [
    "begins before it is run",
    spoilt((call) => (request) => {
      const early = Effect.runPromise(Effect.result(call(request)))
      return Effect.flatMap(Effect.promise(() => early), Effect.fromResult)
    }),
    ["complete: nothing happens before the Effect is run"]
  ],
  [
    "takes broken arguments for whole ones",
    answering((one) => ({ ...one, toolCalls: one.toolCalls.map(({ malformed: _malformed, ...call }) => call) })),
    [
      "complete: arguments that are not JSON (not json at all) are marked, or a typed error"
    ]
  ],
  ["trims texts", answering((one) => ({ ...one, text: one.text.trim().slice(0, 10_000) })), [
    "complete: a text can be long"
  ]],
  ["loses what is not ASCII", answering((one) => ({ ...one, text: one.text.replaceAll(/[^\x20-\x7e]/g, "?") })), [
    "complete: every text is returned unchanged",
    "stream: the response is the same as that of complete, and its parts are its text"
  ]],
  [
    "makes up an answer",
    answering((one) => one.text === "" && one.toolCalls.length === 0 ? { ...one, text: "(no answer)" } : one),
    [
      "complete: an empty answer is an empty text or a typed error"
    ]
  ],
  ["reverses tool calls", answering((one) => ({ ...one, toolCalls: one.toolCalls.toReversed() })), [
    "complete: tool calls are returned with their arguments, in order"
  ]],
  ["does not wait for its reader", (endpoint) => {
    const provider = real(endpoint)
    return { ...provider, stream: (request, sink) => provider.stream!(request, (delta) => void sink(delta)) }
  }, ["stream: a busy reader gets no more deltas"]],
  ["streams all at once", (endpoint) => {
    const provider = real(endpoint)
    return {
      ...provider,
      stream: (request, sink) =>
        Effect.tap(provider.complete(request), ({ text }) => Effect.sync(() => void sink({ type: "text", text })))
    }
  }, ["stream: the response is the same as that of complete, and its parts are its text"]],
  ["cannot stream", (endpoint) => {
    const { stream: _stream, ...provider } = real(endpoint)
    return provider
  }, ["stream: a text is returned"]]
]

describe("OpenAiCompatible", () => {
  for (const { name, run } of ProviderLaws.cases(ProviderLaws.overEndpoint(real))) it(name, run)
})

describe("a model of the AI SDK", () => {
  const make = ProviderLaws.overEndpoint(({ url }) => AiSdk.fromLanguageModel(modelAt(url), { name: "bridge" }))
  for (const { name, run } of ProviderLaws.cases(make)) it(name, run)
})

describe("a provider written by hand with fromPromise", () => {
  const make = ProviderLaws.overEndpoint(({ url }) => plainProvider(url))
  for (const { name, run } of ProviderLaws.cases(make)) it(name, run)
})

describe("the laws of providers", () => {
  it.each(bugs.map(([what, make, caught]) => ({ what, make, caught })))(
    "catch a provider that $what",
    async ({ caught, make }) => {
      const broken: Array<string> = []
      for (const { name, run } of ProviderLaws.cases(ProviderLaws.overEndpoint(make))) {
        await run().catch(() => broken.push(name))
      }
      assert.includeMembers(broken, [...caught])
      assert.isNotEmpty(broken)
    }
  )
})
