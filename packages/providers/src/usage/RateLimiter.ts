/**
 * Keeps calls below the limits that a vendor reports, so that they wait before they are sent instead of being refused.
 *
 * @since 0.1.0
 */
import * as Deadline from "@belay/core/Deadline"
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import { call, type LlmProvider } from "@belay/core/LlmProvider"
import { checkKinds, checkObject, type OptionKinds } from "@belay/core/OptionCheck"
import { type ProviderError, RateLimited } from "@belay/core/ProviderError"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

/** Options of `make`. @category models @since 0.1.0 */
export interface Options {
  /**
   * The longest wait in milliseconds. A call that would wait longer fails with `RateLimited`, so that another provider
   * can answer. Default 30 s.
   */
  readonly maxWaitMs?: number
}

const optionKinds: OptionKinds<Options> = { maxWaitMs: "number" }

/**
 * Returns the provider with a limiter. It reads `rateLimits` of each response and the wait of each `RateLimited`. When
 * no request is left, or fewer tokens than the last call had, calls wait until the vendor has more.
 *
 * @example
 * ```ts
 * import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
 * import * as RateLimiter from "@belay/providers/RateLimiter"
 *
 * const provider = RateLimiter.make(OpenAiCompatible.make({ model: "gpt-5.4-mini", apiKey: "not-a-real-one" }))
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (provider: LlmProvider, options: Options = {}): LlmProvider => {
  Result.getOrThrow(checkKinds("RateLimiter", options, optionKinds))
  Result.getOrThrow(checkObject("RateLimiter.provider", provider, "a provider"))
  const { maxWaitMs = 30_000 } = options
  const requests: Window = { remaining: Infinity, resetAt: 0 }
  const tokens: Window = { remaining: Infinity, resetAt: 0 }
  let closedUntil = 0
  let flying = 0
  let lastTokens = 1

  const waitAt = (now: number): number => {
    if (now >= requests.resetAt) requests.remaining = Infinity
    return Math.max(
      closedUntil - now,
      requests.remaining <= 0 ? requests.resetAt - now : 0,
      tokens.remaining < lastTokens ? tokens.resetAt - now : 0
    )
  }
  const enter: Effect.Effect<void, RateLimited> = Effect.gen(function*() {
    while (true) {
      const wait = waitAt(yield* Deadline.now)
      if (wait <= 0) return
      if (wait > maxWaitMs) {
        const message = `${provider.name} has no requests or tokens left for ${Math.ceil(wait)} ms`
        return yield* new RateLimited({ provider: provider.name, message, retryAfterMs: wait })
      }
      yield* Effect.sleep(wait)
    }
  })
  const learn = ({ rateLimits, usage }: Pick<LlmResponse, "rateLimits" | "usage">, now: number): void => {
    lastTokens = usage === undefined ? lastTokens : usage.inputTokens + usage.outputTokens
    for (const [window, reported] of [[requests, rateLimits?.requests], [tokens, rateLimits?.tokens]] as const) {
      if (reported?.remaining === undefined || reported.resetMs === undefined) continue
      // The vendor may not have counted the calls that are on their way.
      window.remaining = window === requests ? reported.remaining - flying : reported.remaining
      window.resetAt = now + reported.resetMs
    }
  }
  const limited = (call: Effect.Effect<LlmResponse, ProviderError>): Effect.Effect<LlmResponse, ProviderError> =>
    Effect.gen(function*() {
      yield* enter
      requests.remaining--
      flying++
      const answer = yield* Effect.onExit(Effect.result(call), () => Effect.sync(() => void flying--))
      const now = yield* Deadline.now
      if (Result.isSuccess(answer)) {
        learn(answer.success, now)
        return answer.success
      }
      if (answer.failure._tag === "RateLimited") closedUntil = now + (answer.failure.retryAfterMs ?? 0)
      return yield* answer.failure
    })
  const { stream } = provider
  return {
    ...provider,
    complete: (request: LlmRequest) => limited(call(provider, request)),
    ...(stream === undefined ? {} : { stream: (request, sink) => limited(call(provider, request, sink)) })
  }
}

/** What is left of a limit, and when it is full again. */
interface Window {
  remaining: number
  resetAt: number
}
