import type { OnLlmErrorEvent } from "@belay/core/HookPoint"
import * as ProviderError from "@belay/core/ProviderError"
import * as ProviderFallback from "@belay/hooks/ProviderFallback"
import { testHook } from "@belay/testing/TestHook"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { failed, overloaded, request } from "../../../../test/support/events.ts"

/** The decisions about these failures of one session, in order. */
const decided = (options: ProviderFallback.Options | undefined, failures: ReadonlyArray<Partial<OnLlmErrorEvent>>) =>
  Effect.promise(async () => {
    let trial = testHook(ProviderFallback.make(options))
    for (const failure of failures) trial = trial.given("onLlmError", failed(failure))
    // The event of this point has the decision.
    return (await trial).verdicts.map(({ event }) => (event as OnLlmErrorEvent).decision)
  })

const rateLimited = new ProviderError.RateLimited({ provider: "one", message: "slow down", retryAfterMs: 500 })

describe("ProviderFallback", () => {
  // rows: A-64
  it.effect("tries each registered provider once", () =>
    Effect.gen(function*() {
      const decisions = yield* decided(undefined, [
        { provider: "one", attempt: 1 },
        { provider: "two", attempt: 2 },
        { provider: "three", attempt: 3 }
      ])
      assert.deepEqual(decisions, [{ type: "fallback", provider: "two" }, { type: "fallback", provider: "three" }, {
        type: "fail"
      }])
    }))

  it.effect("tries its targets once for a call, and again for the next call", () =>
    Effect.gen(function*() {
      const decisions = yield* decided({ to: [{ model: "small-1" }, "three", { provider: "one", model: "tiny-1" }] }, [
        { attempt: 1 },
        { attempt: 2, request: request("small-1") },
        { attempt: 3, provider: "three" },
        { attempt: 4, request: request("tiny-1") },
        { attempt: 5, request: request("tiny-1") },
        { attempt: 1 }
      ])
      assert.deepEqual(decisions, [
        { type: "fallback", model: "small-1" },
        { type: "fallback", provider: "three" },
        { type: "fallback", provider: "one", model: "tiny-1" },
        { type: "fail" },
        { type: "fail" },
        { type: "fallback", model: "small-1" }
      ])
    }))

  it.effect("skips the target that failed and providers that are not registered", () =>
    Effect.gen(function*() {
      const decisions = yield* decided({ to: ["one", "nowhere", "two"] }, [{ attempt: 1 }])
      assert.deepEqual(decisions, [{ type: "fallback", provider: "two" }])
    }))

  it.effect("ignores errors that another provider would have too", () =>
    Effect.gen(function*() {
      const fields = { provider: "one", message: "no" }
      const errors = [
        new ProviderError.InvalidRequest(fields),
        new ProviderError.ContentFiltered(fields),
        new ProviderError.ContextOverflow(fields)
      ]
      const decisions = yield* decided(undefined, errors.map((error) => ({ error })))
      assert.deepEqual(decisions, [{ type: "fail" }, { type: "fail" }, { type: "fail" }])
    }))

  it.effect("falls back on the errors of the option", () =>
    Effect.gen(function*() {
      const decisions = yield* decided({ on: (error) => error._tag === "RateLimited" }, [{ error: rateLimited }, {
        error: overloaded
      }])
      assert.deepEqual(decisions, [{ type: "fallback", provider: "two" }, { type: "fail" }])
    }))

  it.effect("lets a retry with a short delay come first", () =>
    Effect.gen(function*() {
      const soon = { error: rateLimited, decision: { type: "retry", delayMs: 500 } } as const
      const late = { error: rateLimited, decision: { type: "retry", delayMs: 5000 } } as const
      assert.deepEqual(yield* decided({ patience: "1 second" }, [soon, late]), [soon.decision, {
        type: "fallback",
        provider: "two"
      }])
      assert.deepEqual(yield* decided({}, [soon]), [{ type: "fallback", provider: "two" }])
    }))

  it("keeps calls of different sessions apart", async () => {
    await testHook(ProviderFallback.make({ to: ["two", "three"] }))
      .given("onLlmError", failed(), { sessionId: "a" }).expectTransform({ type: "fallback", provider: "two" })
      .given("onLlmError", failed(), { sessionId: "b" }).expectTransform({ type: "fallback", provider: "two" })
  })
})
