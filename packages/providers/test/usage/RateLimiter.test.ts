import type { LlmResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import * as ProviderError from "@belay/core/ProviderError"
import * as RateLimiter from "@belay/providers/RateLimiter"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { settableClock } from "../../../../test/support/settableClock.ts"
import { request, scripted, stream, success } from "../support/support.ts"

type Limits = NonNullable<LlmResponse["rateLimits"]>

/** A model that reports these limits, one after another, and when it was asked. */
const reporting = (...limits: ReadonlyArray<Limits | ProviderError.ProviderError>) => {
  const asked: Array<number> = []
  const provider: LlmProvider = {
    name: "vendor",
    complete: () =>
      Effect.gen(function*() {
        asked.push(yield* Clock.currentTimeMillis)
        const next = limits[asked.length - 1] ?? {}
        if (ProviderError.isProviderError(next)) return yield* next
        const response: LlmResponse = {
          model: "m",
          text: "hi",
          toolCalls: [],
          finishReason: "stop",
          usage: { inputTokens: 50, outputTokens: 10 },
          rateLimits: next
        }
        return response
      })
  }
  return { asked, provider }
}

describe("a limiter", () => {
  it.effect("waits when no request is left", () =>
    Effect.gen(function*() {
      const { asked, provider } = reporting({ requests: { remaining: 0, resetMs: 2000 } })
      const limited = RateLimiter.make(provider)
      yield* limited.complete(request())
      const second = yield* Effect.forkChild(limited.complete(request()))
      yield* TestClock.adjust(1999)
      assert.lengthOf(asked, 1)
      yield* TestClock.adjust(1)
      yield* Fiber.join(second)
      assert.deepStrictEqual(asked, [0, 2000])
    }))

  it.live("waits no longer when somebody sets the clock of the machine back", () =>
    Effect.gen(function*() {
      const { clock, move } = yield* settableClock
      const refused = new ProviderError.RateLimited({ provider: "vendor", message: "slow down", retryAfterMs: 20 })
      const { asked, provider } = reporting({ requests: { remaining: 0, resetMs: 20 } }, refused)
      const limited = RateLimiter.make(provider)
      const calls = Effect.gen(function*() {
        yield* limited.complete(request())
        move(-3_600_000)
        yield* Effect.flip(limited.complete(request()))
        move(-3_600_000)
        yield* limited.complete(request())
      })
      yield* Effect.provideService(calls, Clock.Clock, clock)
      assert.lengthOf(asked, 3)
    }))

  it.effect("waits when fewer tokens are left than the last call had", () =>
    Effect.gen(function*() {
      const { asked, provider } = reporting({ tokens: { remaining: 59, resetMs: 500 } }, {
        tokens: { remaining: 60, resetMs: 500 }
      })
      const limited = RateLimiter.make(provider)
      yield* limited.complete(request())
      const fiber = yield* Effect.forkChild(Effect.andThen(limited.complete(request()), limited.complete(request())))
      yield* TestClock.adjust(500)
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(asked, [0, 500, 500])
    }))

  it.effect("waits as long as a refusal asks, and lets no more calls pass at once than are left", () =>
    Effect.gen(function*() {
      const refused = new ProviderError.RateLimited({ provider: "vendor", message: "slow down", retryAfterMs: 700 })
      const { asked, provider } = reporting(refused, { requests: { remaining: 2, resetMs: 1000 } })
      const limited = RateLimiter.make(provider)
      assert.strictEqual((yield* Effect.flip(limited.complete(request())))._tag, "RateLimited")
      const fiber = yield* Effect.forkChild(limited.complete(request()))
      yield* TestClock.adjust(700)
      yield* Fiber.join(fiber)
      const all = yield* Effect.forkChild(
        Effect.all([1, 2, 3].map(() => limited.complete(request())), { concurrency: "unbounded" })
      )
      yield* TestClock.adjust(1000)
      yield* Fiber.join(all)
      assert.deepStrictEqual(asked, [0, 700, 700, 700, 1700])
    }))

  it.effect("fails at once when the wait is too long, so that another provider can answer", () =>
    Effect.gen(function*() {
      const { asked, provider } = reporting({ requests: { remaining: 0, resetMs: 60_000 } })
      const limited = RateLimiter.make(provider, { maxWaitMs: 1000 })
      yield* limited.complete(request())
      const error = yield* Effect.flip(limited.complete(request()))
      assert.strictEqual(ProviderError.retryAfterMs(error), 60_000)
      assert.lengthOf(asked, 1)
    }))
})

describe("the limits of an account are read from headers", () => {
  const cases: Record<string, readonly [Record<string, string>, Limits]> = {
    "of OpenAI": [
      {
        "x-ratelimit-limit-requests": "60",
        "x-ratelimit-remaining-requests": "59",
        "x-ratelimit-reset-requests": "1.182s",
        "x-ratelimit-limit-tokens": "150000",
        "x-ratelimit-remaining-tokens": "149984",
        "x-ratelimit-reset-tokens": "6m0s"
      },
      {
        requests: { limit: 60, remaining: 59, resetMs: 1182 },
        tokens: { limit: 150_000, remaining: 149_984, resetMs: 360_000 }
      }
    ],
    "of Groq and Azure": [
      {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "130ms",
        "x-ratelimit-remaining-tokens": "5",
        "x-ratelimit-reset-tokens": "7"
      },
      { requests: { remaining: 0, resetMs: 130 }, tokens: { remaining: 5, resetMs: 7000 } }
    ],
    "of Mistral": [{ "x-ratelimit-remaining-tokens-minute": "499" }, { tokens: { remaining: 499 } }],
    "of Anthropic": [
      {
        date: "Sat, 21 Nov 2026 10:00:00 GMT",
        "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-requests-remaining": "49",
        "anthropic-ratelimit-requests-reset": "2026-11-21T10:00:30Z"
      },
      { requests: { limit: 50, remaining: 49, resetMs: 30_000 } }
    ],
    "of Anthropic, in tokens of the input": [
      { "anthropic-ratelimit-input-tokens-limit": "40000", "anthropic-ratelimit-input-tokens-remaining": "39000" },
      { tokens: { limit: 40_000, remaining: 39_000 } }
    ],
    "of Anthropic, in all tokens": [
      { "anthropic-ratelimit-tokens-remaining": "7", "anthropic-ratelimit-input-tokens-remaining": "9" },
      { tokens: { remaining: 7 } }
    ],
    "by the minute": [{ "x-ratelimit-remaining-requests-minute": "3" }, { requests: { remaining: 3 } }],
    "by the day (Cerebras)": [{ "x-ratelimit-remaining-requests-day": "4" }, { requests: { remaining: 4 } }],
    "by the names of the draft of the IETF": [
      { "ratelimit-limit": "10", "ratelimit-remaining": "9", "ratelimit-reset": "50" },
      { requests: { limit: 10, remaining: 9, resetMs: 50_000 } }
    ],
    "of OpenRouter": [
      {
        date: "Sat, 21 Nov 2026 10:00:00 GMT",
        "x-ratelimit-limit": "20",
        "x-ratelimit-remaining": "19",
        "x-ratelimit-reset": String(Date.parse("2026-11-21T10:00:05Z"))
      },
      { requests: { limit: 20, remaining: 19, resetMs: 5000 } }
    ]
  }
  for (const [name, [headers, expected]] of Object.entries(cases)) {
    it.live(name, () =>
      Effect.gen(function*() {
        const body = { choices: [{ message: { content: "hi" }, finish_reason: "stop" }] }
        const { provider } = yield* scripted([{ status: 200, headers, body }, { status: 200, headers, body }])
        assert.deepStrictEqual((yield* provider.complete(request())).rateLimits, expected)
        assert.deepStrictEqual(success((yield* stream(provider)).result).rateLimits, expected)
      }))
  }

  it.live("and missing where a vendor sends none, or nonsense", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{
        status: 200,
        body: { choices: [{ message: { content: "hi" }, finish_reason: "stop" }] }
      }, {
        status: 200,
        headers: { "x-ratelimit-remaining-requests": "many", "x-ratelimit-reset-requests": "soon" },
        body: { choices: [{ message: { content: "hi" }, finish_reason: "stop" }] }
      }])
      for (const _ of [1, 2]) assert.notProperty(yield* provider.complete(request()), "rateLimits")
    }))

  it.live("and give the wait of a refusal that has no other", () =>
    Effect.gen(function*() {
      const refusal = (tokens: string) => ({
        status: 429,
        headers: {
          "x-ratelimit-remaining-requests": "0",
          "x-ratelimit-reset-requests": "2s",
          "x-ratelimit-remaining-tokens": tokens,
          "x-ratelimit-reset-tokens": "1m"
        },
        body: { error: { message: "Rate limit reached", code: "rate_limit_exceeded" } }
      })
      const { provider } = yield* scripted([refusal("9"), refusal("0")])
      assert.strictEqual(ProviderError.retryAfterMs(yield* Effect.flip(provider.complete(request()))), 2000)
      assert.strictEqual(ProviderError.retryAfterMs(yield* Effect.flip(provider.complete(request()))), 60_000)
    }))

  it.effect("gives the place of a call that was interrupted to others", () =>
    Effect.gen(function*() {
      const never: LlmProvider = { name: "vendor", complete: () => Effect.never }
      const { asked, provider } = reporting({ requests: { remaining: 1, resetMs: 9_000 } })
      let hangs = true
      const both: LlmProvider = {
        name: "vendor",
        complete: (request) => hangs ? never.complete(request) : provider.complete(request)
      }
      const limited = RateLimiter.make(both)
      const hanging = yield* Effect.forkChild(limited.complete(request()))
      yield* TestClock.adjust(10)
      yield* Fiber.interrupt(hanging)
      hangs = false
      // With the interrupted call still counted, the one that is left would be taken.
      yield* limited.complete(request())
      yield* limited.complete(request())
      assert.lengthOf(asked, 2)
    }))

  it.effect("opens exactly when the vendor has said, counted from its answer", () =>
    Effect.gen(function*() {
      const limit = new ProviderError.RateLimited({ provider: "vendor", message: "slow down", retryAfterMs: 3_000 })
      const { asked, provider } = reporting(limit, { requests: { remaining: 0, resetMs: 1_000 } })
      const limited = RateLimiter.make(provider)
      yield* TestClock.adjust(5_000)
      yield* Effect.ignore(limited.complete(request()))
      const second = yield* Effect.forkChild(limited.complete(request()))
      yield* TestClock.adjust(2_999)
      assert.deepStrictEqual(asked, [5_000])
      yield* TestClock.adjust(1)
      yield* Fiber.join(second)
      assert.deepStrictEqual(asked, [5_000, 8_000])
      // At the reset itself there is a request again.
      const third = yield* Effect.forkChild(limited.complete(request()))
      yield* TestClock.adjust(999)
      assert.lengthOf(asked, 2)
      yield* TestClock.adjust(1)
      yield* Fiber.join(third)
      assert.deepStrictEqual(asked, [5_000, 8_000, 9_000])
    }))
})
