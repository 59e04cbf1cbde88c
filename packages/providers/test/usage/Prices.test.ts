import { createAgent } from "@belay/core/createAgent"
import type { LlmProvider } from "@belay/core/LlmProvider"
import * as CostTracker from "@belay/hooks/CostTracker"
import * as Prices from "@belay/providers/Prices"
import { assert, describe, it } from "@effect/vitest"
import * as genai from "@pydantic/genai-prices"
import * as Effect from "effect/Effect"
import { scripted } from "../support/support.ts"

const own = Prices.table({
  small: { costPerInputToken: 1e-6, costPerOutputToken: 2e-6, costPerCachedToken: 5e-7 },
  "vendor/small": { costPerInputToken: 3e-6, costPerOutputToken: 4e-6 },
  "gpt-4o": { costPerInputToken: 1, costPerOutputToken: 1 }
})
const public_ = Prices.genai(genai)
const usage = { inputTokens: 1000, outputTokens: 100 }

describe("a table", () => {
  it("knows its models and no others", () => {
    assert.closeTo(own.costOf(usage, "small") ?? 0, 0.0012, 1e-12)
    assert.isUndefined(own.costOf(usage, "large"))
    assert.isUndefined(own.priceOf("constructor"))
  })

  it("prefers the price at a provider", () => {
    assert.strictEqual(own.priceOf("small", "vendor")?.costPerInputToken, 3e-6)
    assert.strictEqual(own.priceOf("small", "other")?.costPerInputToken, 1e-6)
  })

  it("counts cached input at its own price, up to the number of input tokens", () => {
    assert.closeTo(own.costOf({ ...usage, cachedTokens: 400 }, "small") ?? 0, 0.001, 1e-12)
    assert.closeTo(own.costOf({ ...usage, cachedTokens: 4000 }, "small") ?? 0, 0.0007, 1e-12)
  })

  it("counts input that was written to a cache at its own price, like the hooks", async () => {
    const price = { costPerInputToken: 1e-6, costPerOutputToken: 2e-6, costPerCacheWriteToken: 2e-6 }
    const written = { ...usage, cachedTokens: 100, cacheWriteTokens: 400 }
    assert.closeTo(Prices.table({ small: price }).costOf(written, "small") ?? 0, 0.0016, 1e-12)
    assert.closeTo(own.costOf(written, "small") ?? 0, 0.00115, 1e-12)
    const provider: LlmProvider = {
      name: "p",
      model: "small",
      complete: () =>
        Effect.succeed({ model: "small", text: "hi", toolCalls: [], finishReason: "stop", usage: written })
    }
    await using agent = createAgent({ provider, hooks: [CostTracker.make({ prices: { small: price } })] })
    await using session = await agent.session()
    await session.run("hi")
    assert.strictEqual(CostTracker.total(session.state).usd, 0.0016)
  })

  it("has the price of writing to a cache from published prices", () => {
    const price = public_.priceOf("claude-sonnet-4-5", "anthropic")
    assert.isAbove(price?.costPerCacheWriteToken ?? 0, price?.costPerInputToken ?? Infinity)
    assert.closeTo(
      public_.costOf({ ...usage, cacheWriteTokens: 400 }, "claude-sonnet-4-5", "anthropic") ?? 0,
      Prices.table({ m: price! }).costOf({ ...usage, cacheWriteTokens: 400 }, "m") ?? -1,
      1e-12
    )
  })

  it("counts billable output, which includes reasoning", () => {
    assert.closeTo(own.costOf({ ...usage, billableOutputTokens: 300 }, "small") ?? 0, 0.0016, 1e-12)
  })
})

describe("published prices", () => {
  it("are those of the package", () => {
    const theirs = genai.calcPrice({ input_tokens: 1000, output_tokens: 100 }, "gpt-4o", { providerId: "openai" })
    assert.isAbove(theirs?.total_price ?? 0, 0)
    assert.strictEqual(public_.costOf(usage, "gpt-4o", "openai"), theirs?.total_price)
    assert.strictEqual(public_.costOf(usage, "gpt-4o"), theirs?.total_price)
  })

  it("agree with the plain price if there are no tiers", () => {
    const price = public_.priceOf("gpt-4o", "openai")
    const cached = { ...usage, cachedTokens: 600 }
    assert.isDefined(price)
    assert.closeTo(
      Prices.table({ m: price ?? { costPerInputToken: 0, costPerOutputToken: 0 } }).costOf(cached, "m") ?? 0,
      public_.costOf(cached, "gpt-4o", "openai") ?? -1,
      1e-12
    )
  })

  it("grow with the request like the prices of the vendor", () => {
    const short = public_.costOf({ inputTokens: 100_000, outputTokens: 0 }, "gemini-2.5-pro", "google") ?? 0
    const long = public_.costOf({ inputTokens: 400_000, outputTokens: 0 }, "gemini-2.5-pro", "google") ?? 0
    assert.isAbove(short, 0)
    assert.isAbove(long, short * 4.5)
  })

  it("find a provider by the name of its preset and by its host", () => {
    assert.isAbove(public_.costOf(usage, "deepseek-chat", "deepseek") ?? 0, 0)
    assert.strictEqual(
      public_.costOf(usage, "deepseek-chat", "api.deepseek.com"),
      public_.costOf(usage, "deepseek-chat", "deepseek")
    )
  })

  it("are unknown and not zero for unpublished models and providers", () => {
    assert.isUndefined(public_.costOf(usage, "no-such-model"))
    assert.isUndefined(public_.priceOf("no-such-model"))
    assert.isUndefined(public_.costOf(usage, "gpt-4o", "llamacpp"))
    assert.isUndefined(public_.costOf(usage, "gpt-4o", "127.0.0.1:8080"))
  })

  it("are unknown for a model with a price for input only", () => {
    assert.isUndefined(public_.costOf(usage, "text-embedding-3-small", "openai"))
    assert.isUndefined(public_.priceOf("text-embedding-3-small", "openai"))
  })

  it("are unknown for an invalid usage", () => {
    assert.isUndefined(public_.costOf({ inputTokens: -5, outputTokens: 1 }, "gpt-4o", "openai"))
    assert.isUndefined(public_.costOf({ inputTokens: Number.NaN, outputTokens: 1 }, "gpt-4o", "openai"))
  })

  it("have no rounding errors", () => {
    for (const model of ["gpt-4o", "gpt-4o-mini", "o3", "gpt-4.1", "gpt-4.1-nano"]) {
      assert.isAtMost(String(public_.priceOf(model, "openai")?.costPerInputToken).length, 9)
    }
  })
})

describe("several sources of prices", () => {
  const both = Prices.firstOf(own, public_)

  it("use the first known price", () => {
    assert.strictEqual(both.costOf(usage, "gpt-4o", "openai"), 1100)
    assert.strictEqual(both.priceOf("gpt-4o")?.costPerInputToken, 1)
    assert.strictEqual(both.costOf(usage, "gpt-4o-mini", "openai"), public_.costOf(usage, "gpt-4o-mini", "openai"))
    assert.isUndefined(both.costOf(usage, "no-such-model"))
  })

  it("never replace the cost that the vendor reports", () => {
    for (const prices of [own, public_, both, Prices.firstOf()]) {
      assert.strictEqual(prices.costOf({ ...usage, costUsd: 0.5 }, "gpt-4o", "openai"), 0.5)
      assert.strictEqual(prices.costOf({ ...usage, costUsd: 0.5 }, "no-such-model"), 0.5)
    }
  })
})

describe("a table for a cost tracker", () => {
  it("contains the models with a price", () => {
    const prices = Prices.tableOf(Prices.firstOf(own, public_), ["small", "gpt-4o-mini", "no-such-model"])
    assert.deepStrictEqual(Object.keys(prices), ["small", "gpt-4o-mini"])
  })

  it.live("makes it count with these prices", () =>
    Effect.gen(function*() {
      const { provider } = yield* scripted([{ text: "hello there" }])
      const prices = Prices.tableOf(public_, ["gpt-4o"], "openai")
      const priced: LlmProvider = {
        ...provider,
        complete: (request) => Effect.map(provider.complete(request), (response) => ({ ...response, model: "gpt-4o" }))
      }
      const agent = createAgent({ provider: priced, hooks: [CostTracker.make({ prices })] })
      const session = yield* Effect.promise(() => agent.session())
      const { usage: used } = yield* Effect.promise(() => session.run("hi"))
      const { unknownCalls, usd } = CostTracker.total(session.state)
      assert.strictEqual(unknownCalls, 0)
      assert.closeTo(usd, public_.costOf(used, "gpt-4o", "openai") ?? -1, 1e-12)
      yield* Effect.promise(() => agent.close())
    }))
})

describe("the prices of a provider", () => {
  for (
    const [name, prices] of [
      ["a table", { scripted: { costPerInputToken: 1e-6, costPerOutputToken: 2e-6 } }],
      ["a source", Prices.table({ "vendor/scripted": { costPerInputToken: 1e-6, costPerOutputToken: 2e-6 } })]
    ] as const
  ) {
    it.live(`are the cost of its calls, for results and for hooks without prices: ${name}`, () =>
      Effect.gen(function*() {
        const { provider } = yield* scripted([
          { text: "hello", usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 } }
        ], { prices })
        const agent = createAgent({ provider, hooks: [CostTracker.make({})] })
        const session = yield* Effect.promise(() => agent.session())
        const { cost } = yield* Effect.promise(() => session.run("hi"))
        assert.deepStrictEqual(cost, {
          usd: 0.0012,
          isComplete: true,
          byModel: { scripted: { usd: 0.0012, isComplete: true, calls: 1 } }
        })
        assert.deepInclude(CostTracker.total(session.state), { usd: 0.0012, unknownCalls: 0 })
        yield* Effect.promise(() => agent.close())
      }))
  }
})
