import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import * as AiSdk from "@belay/providers/AiSdk"
import * as Endpoint from "@belay/testing/Endpoint"
import * as Effect from "effect/Effect"
import { request, stream } from "./support.ts"

/** The real package, pointed at an endpoint of ours. */
export const modelAt = (url: string, model = "scripted") =>
  createOpenAICompatible({ name: "vendor", baseURL: url, apiKey: "test-key", includeUsage: true }).languageModel(model)

/** A model of the AI SDK whose endpoint answers with the script. */
export const bridged = (script: ReadonlyArray<Endpoint.ScriptEntry>) =>
  Effect.map(Endpoint.scoped({ script }), (endpoint) => ({
    endpoint,
    provider: AiSdk.fromLanguageModel(modelAt(endpoint.url), { name: "bridge" })
  }))

/** Complete and stream, of the same script entry. */
export const both = (entry: Endpoint.ScriptEntry, given = request()) =>
  Effect.gen(function*() {
    const { endpoint, provider } = yield* bridged([entry, entry])
    const plain = yield* Effect.result(provider.complete(given))
    const streamed = yield* stream(provider, given)
    return { endpoint, plain, streamed }
  })
