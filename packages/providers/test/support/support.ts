import type { LlmDelta, LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import type { ProviderError } from "@belay/core/ProviderError"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import * as Endpoint from "@belay/testing/Endpoint"
import * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import type * as Scope from "effect/Scope"

/** A request of one user message. */
export const request = (content = "Say hello", more: Partial<LlmRequest> = {}): LlmRequest => ({
  messages: [{ role: "user", content }],
  tools: [],
  parameters: {},
  ...more
})

/** A tool that takes a path. */
export const readFile = {
  name: "read_file",
  description: "Reads a file",
  inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] }
} as const

export interface Seen {
  readonly deltas: ReadonlyArray<LlmDelta>
  readonly result: Result.Result<LlmResponse, ProviderError>
}

/** Streams, and keeps the deltas and the end. */
export const stream = (provider: LlmProvider, given: LlmRequest = request()): Effect.Effect<Seen> => {
  const deltas: Array<LlmDelta> = []
  const answer = provider.stream?.(given, (delta) => void deltas.push(delta)) ??
    Effect.die(new Error("the provider cannot stream"))
  return Effect.map(Effect.result(answer), (result) => ({ deltas, result }))
}

/** A provider whose endpoint answers with the script. */
export const scripted = (
  script: ReadonlyArray<Endpoint.ScriptEntry>,
  options: OpenAiCompatible.Options = {}
): Effect.Effect<{ readonly endpoint: Endpoint.Endpoint; readonly provider: LlmProvider }, never, Scope.Scope> =>
  Effect.map(Endpoint.scoped({ script }), (endpoint) => ({
    endpoint,
    provider: OpenAiCompatible.make({
      baseUrl: endpoint.url,
      apiKey: "test-key",
      model: "scripted",
      name: "vendor",
      ...options
    })
  }))

/** The response, or a failed test that shows the error. */
export const success = (result: Result.Result<LlmResponse, ProviderError>): LlmResponse => {
  if (result._tag === "Success") return result.success
  throw new Error(`expected a response, got ${result.failure._tag}: ${result.failure.message}`)
}

/** The error, or a failed test that shows the response. */
export const failure = (result: Result.Result<LlmResponse, ProviderError>): ProviderError => {
  if (result._tag === "Failure") return result.failure
  throw new Error(`expected a failure, got ${JSON.stringify(result.success)}`)
}

/** The text of the deltas. */
export const textOf = (deltas: ReadonlyArray<LlmDelta>, type: "text" | "reasoning" = "text"): string =>
  deltas.map((delta) => delta.type === type ? delta.text : "").join("")
