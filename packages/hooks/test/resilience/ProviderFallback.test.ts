import * as HookChain from "@belay/core/HookChain"
import type { OnLlmErrorEvent } from "@belay/core/HookPoint"
import * as ProviderError from "@belay/core/ProviderError"
import * as ProviderFallback from "@belay/hooks/ProviderFallback"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { failed, overloaded, request } from "../support/events.ts"
import * as Scope from "../support/scope.ts"

const decided = (options: ProviderFallback.Options | undefined, failures: ReadonlyArray<Partial<OnLlmErrorEvent>>) => {
  const chain = HookChain.makeUnsafe([ProviderFallback.make(options)])
  const scope = Scope.make()
  return Effect.forEach(
    failures,
    (failure) => Effect.map(chain.run("onLlmError", failed(failure), scope), ({ event }) => event.decision)
  )
}

const rateLimited = new ProviderError.RateLimited({ provider: "one", message: "slow down", retryAfterMs: 500 })

describe("ProviderFallback", () => {
  // rows: A-64
  it.effect("goes through the registered providers once", () =>
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

  it.effect("goes through its own list once a call, and again for the next call", () =>
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

  it.effect("passes over what has just failed and what does not exist", () =>
    Effect.gen(function*() {
      const decisions = yield* decided({ to: ["one", "nowhere", "two"] }, [{ attempt: 1 }])
      assert.deepEqual(decisions, [{ type: "fallback", provider: "two" }])
    }))

  it.effect("leaves errors alone that another provider would have too", () =>
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

  it.effect("falls back on the errors it is told to", () =>
    Effect.gen(function*() {
      const decisions = yield* decided({ on: (error) => error._tag === "RateLimited" }, [{ error: rateLimited }, {
        error: overloaded
      }])
      assert.deepEqual(decisions, [{ type: "fallback", provider: "two" }, { type: "fail" }])
    }))

  it.effect("lets a retry go first that comes soon enough", () =>
    Effect.gen(function*() {
      const soon = { error: rateLimited, decision: { type: "retry", delayMs: 500 } } as const
      const late = { error: rateLimited, decision: { type: "retry", delayMs: 5000 } } as const
      assert.deepEqual(yield* decided({ patience: "1 second" }, [soon, late]), [soon.decision, {
        type: "fallback",
        provider: "two"
      }])
      assert.deepEqual(yield* decided({}, [soon]), [{ type: "fallback", provider: "two" }])
    }))

  it.effect("keeps calls of different sessions apart", () =>
    Effect.gen(function*() {
      const chain = HookChain.makeUnsafe([ProviderFallback.make({ to: ["two", "three"] })])
      const scopes = [Scope.make({ sessionId: "a" }), Scope.make({ sessionId: "b" })]
      const decisions = yield* Effect.forEach(scopes, (scope) =>
        Effect.map(chain.run("onLlmError", failed(), scope), ({ event }) => event.decision))
      assert.deepEqual(decisions, [{ type: "fallback", provider: "two" }, { type: "fallback", provider: "two" }])
    }))
})
