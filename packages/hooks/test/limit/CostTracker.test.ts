import { ConfigError } from "@belay/core/AgentError"
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as HookChain from "@belay/core/HookChain"
import type { PostLlmCallEvent } from "@belay/core/LlmCall"
import * as ProviderError from "@belay/core/ProviderError"
import * as CostTracker from "@belay/hooks/CostTracker"
import * as TestScope from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { answer, failed, request, spent } from "../../../../test/support/events.ts"
import { totalAfter } from "../support/costs.ts"

const price = { costPerInputToken: 0.01, costPerOutputToken: 0.02 }

const tracked = (options: CostTracker.Options) => {
  const chain = HookChain.makeUnsafe([CostTracker.make(options)])
  const scope = TestScope.make()
  return {
    scope,
    post: (event: PostLlmCallEvent) => chain.run("postLlmCall", event, scope),
    pre: Effect.suspend(() => Effect.map(chain.run("preLlmCall", request(), scope), ({ action }) => action)),
    total: () => CostTracker.total(scope.state)
  }
}

describe("CostTracker", () => {
  // rows: A-62
  it.effect("adds up the costs of a session under `total_cost`", () =>
    Effect.gen(function*() {
      const { post, scope, total } = tracked(price)
      yield* post(spent(100, 50))
      assert.strictEqual(scope.state.get(CostTracker.totalCost), 2.0)
      yield* post(spent(200, 10))
      assert.strictEqual(scope.state.get(CostTracker.totalCost), 4.2)
      assert.deepEqual(total(), { usd: 4.2, text: "$4.20", unknownCalls: 0 })
      assert.strictEqual(scope.state.snapshot()["total_cost"], 4.2)
    }))

  it.effect("keeps every cent of 1,000 concurrent calls", () =>
    Effect.gen(function*() {
      const slow = defineHook({ name: "slow", postLlmCall: () => Effect.yieldNow })
      for (const limit of [undefined, 1000]) {
        const chain = HookChain.makeUnsafe([CostTracker.make(limit === undefined ? price : { ...price, limit }), slow])
        const scope = TestScope.make()
        const call = Effect.suspend(() => chain.run("postLlmCall", spent(10, 5), scope))
        yield* Effect.forEach(Array.from({ length: 1000 }), () => call, { concurrency: "unbounded", discard: true })
        assert.strictEqual(CostTracker.total(scope.state).usd, 200)
      }
    }))

  it("is exact after 20,000 calls", () => {
    assert.deepEqual(totalAfter(20_000), { usd: 0.008, text: "$0.008", unknownCalls: 0 })
  })

  it.effect("reads prices as exact decimal numbers", () =>
    Effect.gen(function*() {
      const { post, total } = tracked({ costPerInputToken: 3.75e-8, costPerOutputToken: 0.00012 })
      yield* post(spent(1, 3))
      assert.strictEqual(total().text, "$0.0003600375")
    }))

  it.effect("finds the price of a model by the name in the response or in the request", () =>
    Effect.gen(function*() {
      const { post, total } = tracked({
        ...price,
        prices: { "large-1": { costPerInputToken: 1, costPerOutputToken: 2 } }
      })
      const usage = { inputTokens: 1, outputTokens: 1 }
      yield* post(answer({ model: "large-1", usage }))
      yield* post(answer({ model: "large-1-2026-01-01", usage }, { request: request("large-1") }))
      yield* post(answer({ model: "constructor", usage }))
      assert.strictEqual(total().text, "$6.03")
    }))

  it.effect("applies the prices of cached and of billable tokens", () =>
    Effect.gen(function*() {
      const { post, total } = tracked({ ...price, costPerCachedToken: 0.001 })
      yield* post(spent(100, 50, { cachedTokens: 90, billableOutputTokens: 60 }))
      assert.strictEqual(total().text, "$1.39")
    }))

  it.effect("prefers the cost that the vendor reports", () =>
    Effect.gen(function*() {
      const { post, total } = tracked(price)
      yield* post(spent(100, 50, { costUsd: 0.0123 }))
      assert.strictEqual(total().text, "$0.0123")
    }))

  it.effect("counts calls without a price as unknown, and warns once", () =>
    Effect.gen(function*() {
      const { post, scope, total } = tracked({ prices: {} })
      for (const event of [answer(), spent(1, 1), spent(-1, 1, {}), spent(1, 1, { costUsd: -1 })]) yield* post(event)
      assert.deepEqual(total(), { usd: 0, text: "$0.00", unknownCalls: 4 })
      assert.deepEqual(scope.warnings, [
        "the cost of a call to model-1 is not known and not in the total: the vendor reported no usage"
      ])
    }))

  it.effect("counts usage that cannot be as unknown, and gives nothing back for it", () =>
    Effect.gen(function*() {
      const { post, total } = tracked(price)
      const impossible = [
        spent(-1, 1),
        spent(1, -1),
        spent(1, 1, { cachedTokens: -1 }),
        spent(1, 1, { billableOutputTokens: -1 }),
        spent(0.5, 1),
        spent(1, Number.NaN),
        spent(1, 1, { costUsd: -1 })
      ]
      for (const event of impossible) yield* post(event)
      assert.deepEqual(total(), { usd: 0, text: "$0.00", unknownCalls: impossible.length })
    }))

  it.effect("charges tokens that were written to a cache at their own price, or like other input", () =>
    Effect.gen(function*() {
      // Of 100 input tokens, 50 were read from the cache, and 20 were written to it.
      const usage = spent(100, 0, { cachedTokens: 50, cacheWriteTokens: 20 })
      const prices = { costPerInputToken: 0.01, costPerOutputToken: 0, costPerCachedToken: 0.001 }
      const dear = tracked({ ...prices, costPerCacheWriteToken: 0.02 })
      yield* dear.post(usage)
      assert.strictEqual(dear.total().text, "$0.75")
      const plain = tracked(prices)
      yield* plain.post(usage)
      assert.strictEqual(plain.total().text, "$0.55")
      // Tokens are not charged twice.
      const more = tracked({ ...prices, costPerCacheWriteToken: 0.02 })
      yield* more.post(spent(100, 0, { cachedTokens: 90, cacheWriteTokens: 1_000 }))
      assert.strictEqual(more.total().text, "$0.29")
      yield* more.post(spent(100, 0, { cacheWriteTokens: -1 }))
      assert.strictEqual(more.total().unknownCalls, 1)
    }))

  it.effect("charges cached tokens up to the number of input tokens", () =>
    Effect.gen(function*() {
      const { post, total } = tracked({ ...price, costPerCachedToken: 0.001 })
      yield* post(spent(100, 0, { cachedTokens: 1_000 }))
      assert.strictEqual(total().text, "$0.10")
    }))

  it.effect("charges nothing for a call that a hook answers, and the tokens so far for a call that breaks off", () =>
    Effect.gen(function*() {
      const chain = HookChain.makeUnsafe([CostTracker.make(price)])
      const scope = TestScope.make()
      yield* chain.run("postLlmCall", { ...spent(100, 50), executed: false }, scope)
      yield* chain.run("onLlmError", failed(), scope)
      assert.deepEqual(CostTracker.total(scope.state), { usd: 0, text: "$0.00", unknownCalls: 0 })
      const partial = { text: "half", usage: { inputTokens: 100, outputTokens: 1 } }
      yield* chain.run(
        "onLlmError",
        failed({ error: new ProviderError.Connection({ provider: "one", message: "broke", partial }) }),
        scope
      )
      assert.strictEqual(CostTracker.total(scope.state).text, "$1.02")
    }))

  it.effect("counts calls that another hook rejects", () =>
    Effect.gen(function*() {
      const strict = defineHook({ name: "strict", priority: 200, postLlmCall: () => HookAction.reject("no") })
      const chain = HookChain.makeUnsafe([CostTracker.make(price), strict])
      const scope = TestScope.make()
      assert.strictEqual((yield* chain.run("postLlmCall", spent(100, 50), scope)).action._tag, "Reject")
      assert.strictEqual(CostTracker.total(scope.state).usd, 2)
    }))

  it("rejects invalid prices and limits", () => {
    assert.throws(
      () => CostTracker.make({ costPerInputToken: -1, costPerOutputToken: 1 }),
      ConfigError,
      /costPerInputToken/
    )
    assert.throws(() => CostTracker.make({ costPerInputToken: 1 }), ConfigError, /or neither/)
    assert.throws(() => CostTracker.make({ ...price, limit: Number.NaN }), ConfigError, /limit/)
    assert.throws(
      () => CostTracker.make({ prices: { m: { ...price, costPerOutputToken: Infinity } } }),
      ConfigError,
      /prices\["m"\]\.costPerOutputToken/
    )
    assert.throws(
      () => CostTracker.make({ prices: { m: {} as CostTracker.Price } }),
      ConfigError,
      /prices\.m\.costPerInputToken/
    )
  })

  it("observes without a limit and is a policy with one", () => {
    assert.deepInclude(CostTracker.make(price), { name: "cost-tracker", priority: 100, kind: "observer" })
    assert.strictEqual(CostTracker.make({ ...price, limit: 1 }).kind, "policy")
  })
})

describe("CostTracker with a limit", () => {
  const cheap = { costPerInputToken: 0.0001, costPerOutputToken: 0.0001 }

  it.effect("allows calls until the limit is reached", () =>
    Effect.gen(function*() {
      const { post, pre } = tracked({ ...cheap, limit: 0.05 })
      assert.strictEqual((yield* pre)._tag, "Continue")
      yield* post(spent(400, 99))
      assert.strictEqual((yield* pre)._tag, "Continue")
      yield* post(spent(10, 3))
      assert.deepEqual(yield* pre, { _tag: "Reject", reason: "cost limit of $0.05 reached: $0.0512 spent" })
    }))

  it.effect("stops at the limit exactly", () =>
    Effect.gen(function*() {
      const { post, pre } = tracked({ costPerInputToken: 0.1, costPerOutputToken: 0, limit: 0.3 })
      yield* post(spent(1, 0))
      yield* post(spent(2, 0))
      assert.strictEqual((yield* pre)._tag, "Reject")
    }))

  it.effect("fails closed for an unknown cost if the option is set", () =>
    Effect.gen(function*() {
      const lenient = tracked({ limit: 1 })
      yield* lenient.post(spent(10, 10))
      assert.strictEqual((yield* lenient.pre)._tag, "Continue")
      const strict = tracked({ limit: 1, onUnknown: "stop" })
      assert.strictEqual((yield* strict.pre)._tag, "Continue")
      yield* strict.post(spent(10, 10))
      assert.deepEqual(yield* strict.pre, {
        _tag: "Reject",
        reason: "the cost of 1 call is not known, so the limit of $1.00 cannot be kept"
      })
    }))

  it.effect("ends the turn if the option is set", () =>
    Effect.gen(function*() {
      const { pre } = tracked({ ...cheap, limit: 0, onLimit: "abort" })
      assert.deepEqual(yield* pre, { _tag: "Abort", reason: "cost limit of $0.00 reached: $0.00 spent" })
    }))

  it.effect("warns once before the limit", () =>
    Effect.gen(function*() {
      const { post, scope } = tracked({ ...cheap, limit: 0.1, warnAt: 0.5 })
      yield* post(spent(499, 0))
      assert.deepEqual(scope.warnings, [])
      yield* post(spent(1, 0))
      yield* post(spent(100, 0))
      assert.deepEqual(scope.warnings, ["$0.05 of the cost limit of $0.10 spent"])
    }))
})
