/**
 * Test cases for providers, for any test runner.
 *
 * @since 0.1.0
 */
import type { LlmProvider } from "@belay/core/LlmProvider"
import * as Endpoint from "./Endpoint.ts"
import type { Law } from "./internal/laws/law.ts"
import { type Make, providerLaws, type Scene, type Subject } from "./internal/laws/providers.ts"

/** One law. `run` rejects if it does not hold. @category models @since 0.1.0 */
export type Case = Law

export type { Make, Scene, Subject }

/**
 * Returns the laws of providers.
 *
 * @example
 * ```ts
 * import { OpenAiCompatible } from "@belay/providers"
 * import * as ProviderLaws from "@belay/testing/ProviderLaws"
 * import { test } from "node:test"
 *
 * const make = ProviderLaws.overEndpoint(({ url }) =>
 *   OpenAiCompatible.make({ baseUrl: url, apiKey: "test-key", model: "scripted" })
 * )
 * for (const { name, run } of ProviderLaws.cases(make)) test(name, run)
 * ```
 * @category laws
 * @since 0.1.0
 */
export const cases = (make: Make): ReadonlyArray<Case> => providerLaws(make)

/**
 * Returns a `make` function for a provider with the OpenAI protocol. An endpoint on the loopback interface plays the
 * scenes.
 *
 * @category laws
 * @since 0.1.0
 */
export const overEndpoint = (make: (endpoint: Endpoint.Endpoint) => LlmProvider): Make => async (scenes) => {
  const endpoint = await Endpoint.start({ script: scenes.map(replyOf) })
  return { provider: make(endpoint), calls: () => endpoint.requests.length, dispose: endpoint.close }
}

const error = (status: number, message: string, headers = {}): Endpoint.RawAnswer => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: { error: { message, type: "error" } }
})

const replyOf = (scene: Scene): Endpoint.ScriptEntry => {
  if (scene.type === "answer") return scene.answer
  if (scene.type === "silence") return { connection: "open" }
  switch (scene.how) {
    case "rate-limited":
      return error(429, "too many requests", { "retry-after": "2" })
    case "unauthorized":
      return error(401, "no such key")
    case "server":
      return error(500, "something broke")
    case "garbage":
      return { status: 200, headers: { "content-type": "text/html" }, body: "<html>sign in</html>" }
    case "cut":
      return { chunks: [`data: ${JSON.stringify(Endpoint.delta({ content: "half of an ans" }))}\n\n`], end: "cut" }
  }
}
