/**
 * Calculates the cost of calls from your own table, from published prices of vendors, or from both.
 *
 * @since 0.1.0
 */
import { assertArguments, checked } from "@belay/core/ArgumentCheck"
import type { Usage } from "@belay/core/Usage"
import * as Result from "effect/Result"
import { countOf, isObject } from "../openai/internal/request/guards.ts"
import { checkTable, type Price } from "./internal/priceTable.ts"

export type { Price }

/** A source of prices. An unknown price is `undefined`, never 0. @category models @since 0.1.0 */
export interface Prices {
  /**
   * Returns the price of a model. If the price grows with the length of a request, it is the price of short requests.
   */
  readonly priceOf: (model: string, provider?: string) => Price | undefined
  /**
   * Returns the cost of a call in US dollars. A cost that the vendor reports (`usage.costUsd`) counts before prices.
   */
  readonly costOf: (usage: Usage, model: string, provider?: string) => number | undefined
}

/**
 * Creates prices from a table. Its keys are names of models, or `provider/model`, which counts first.
 *
 * @example
 * ```ts
 * import * as Prices from "@belay/providers/Prices"
 *
 * const prices = Prices.table({
 *   "small-1": { costPerInputToken: 1.5e-7, costPerOutputToken: 6e-7, costPerCachedToken: 7.5e-8 },
 *   "openrouter/small-1": { costPerInputToken: 1.6e-7, costPerOutputToken: 6.4e-7 }
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const table = checked("Prices.table", ["models"], (models: { readonly [model: string]: Price }): Prices => {
  Result.getOrThrow(checkTable("Prices.table", models))
  const known = new Map(Object.entries(models))
  const priceOf = (model: string, provider?: string) => known.get(`${provider}/${model}`) ?? known.get(model)
  return {
    priceOf,
    costOf: (usage, model, provider) => usage.costUsd ?? atPrice(usage, priceOf(model, provider))
  }
})

/** The part of the package `@pydantic/genai-prices` that Belay uses. @category models @since 0.1.0 */
export interface GenaiPrices {
  readonly calcPrice: (
    usage: Record<string, number | undefined>,
    modelId: string,
    options?: { providerId?: string; providerApiUrl?: string }
  ) => { readonly total_price: number; readonly model_price: { readonly [key: string]: unknown } } | null
}

/**
 * Creates prices from the package `@pydantic/genai-prices`, which knows tiers, caches and times of day. With a
 * provider, only the price of that provider counts, because the same model can have another price elsewhere.
 *
 * @example
 * ```ts
 * import * as Prices from "@belay/providers/Prices"
 * import * as genai from "@pydantic/genai-prices"
 *
 * const prices = Prices.firstOf(
 *   Prices.table({ "my-model": { costPerInputToken: 1e-7, costPerOutputToken: 1e-7 } }),
 *   Prices.genai(genai)
 * )
 * prices.costOf({ inputTokens: 1000, outputTokens: 100 }, "gpt-4o", "openai")
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const genai = (package_: GenaiPrices): Prices => {
  const calculate = (usage: Usage, model: string, provider: string | undefined) => {
    const { inputTokens, outputTokens } = usage
    const counts = {
      input_tokens: inputTokens,
      output_tokens: usage.billableOutputTokens ?? outputTokens,
      cache_read_tokens: Math.min(usage.cachedTokens ?? 0, inputTokens),
      ...(usage.cacheWriteTokens === undefined ? {} : { cache_write_tokens: usage.cacheWriteTokens })
    }
    const ask = (options: { providerId?: string; providerApiUrl?: string }) =>
      Result.getOrNull(Result.try(() => package_.calcPrice(counts, model, options)))
    if (provider === undefined) return ask({})
    return ask({ providerId: provider }) ??
      (provider.includes(".") ? ask({ providerApiUrl: `https://${provider}` }) : null)
  }
  const priceOf = (model: string, provider?: string): Price | undefined => {
    const found = calculate({ inputTokens: 1, outputTokens: 1 }, model, provider)?.model_price
    const [input, output, cached, written] = [
      perToken(found?.input_mtok),
      perToken(found?.output_mtok),
      perToken(found?.cache_read_mtok),
      perToken(found?.cache_write_mtok)
    ]
    if (input === undefined || output === undefined) return undefined
    return {
      costPerInputToken: input,
      costPerOutputToken: output,
      ...(cached === undefined ? {} : { costPerCachedToken: cached }),
      ...(written === undefined ? {} : { costPerCacheWriteToken: written })
    }
  }
  return {
    priceOf,
    costOf: (usage, model, provider) => {
      if (usage.costUsd !== undefined) return usage.costUsd
      const found = calculate(usage, model, provider)
      const isPriced = perToken(found?.model_price.input_mtok) !== undefined &&
        perToken(found?.model_price.output_mtok) !== undefined
      return isPriced ? countOf(found?.total_price) : undefined
    }
  }
}

/** Combines several sources. The first one that knows a price counts. @category combining @since 0.1.0 */
export const firstOf = (...all: ReadonlyArray<Prices>): Prices => {
  const first = <A>(ask: (prices: Prices) => A | undefined): A | undefined => {
    for (const prices of all) {
      const found = ask(prices)
      if (found !== undefined) return found
    }
    return undefined
  }
  return {
    priceOf: (model, provider) => first((prices) => prices.priceOf(model, provider)),
    costOf: (usage, model, provider) => usage.costUsd ?? first((prices) => prices.costOf(usage, model, provider))
  }
}

/**
 * Returns the prices of some models, for the option `prices` of `CostTracker`. Models without a price are left out.
 *
 * @example
 * ```ts
 * import * as CostTracker from "@belay/hooks/CostTracker"
 * import * as Prices from "@belay/providers/Prices"
 * import * as genai from "@pydantic/genai-prices"
 *
 * const tracker = CostTracker.make({
 *   prices: Prices.tableOf(Prices.genai(genai), ["gpt-4o", "gpt-4o-mini"], "openai"),
 *   limit: 5
 * })
 * ```
 * @category reading
 * @since 0.1.0
 */
export const tableOf = (
  prices: Prices,
  models: ReadonlyArray<string>,
  provider?: string
): { readonly [model: string]: Price } => {
  const areRight = typeof prices?.priceOf === "function" && Array.isArray(models)
  assertArguments(areRight, "Prices.tableOf", ["prices", "models"], [prices, models])
  return Object.fromEntries(models.flatMap((model: string) => {
    const price = prices.priceOf(model, provider)
    return price === undefined ? [] : [[model, price]]
  }))
}

const atPrice = (usage: Usage, price: Price | undefined): number | undefined => {
  if (price === undefined) return undefined
  const { costPerInputToken, costPerOutputToken } = price
  const { costPerCacheWriteToken = costPerInputToken, costPerCachedToken = costPerInputToken } = price
  const cached = Math.min(usage.cachedTokens ?? 0, usage.inputTokens)
  const written = Math.min(usage.cacheWriteTokens ?? 0, usage.inputTokens - cached)
  const output = usage.billableOutputTokens ?? usage.outputTokens
  const plain = usage.inputTokens - cached - written
  return plain * costPerInputToken + cached * costPerCachedToken + written * costPerCacheWriteToken +
    output * costPerOutputToken
}

/**
 * Converts dollars per million tokens to dollars per token. It changes the decimal exponent, because a division would
 * not be exact.
 */
const perToken = (perMillion: unknown): number | undefined => {
  const dollars = countOf(isObject(perMillion) ? perMillion.base : perMillion)
  return dollars === undefined ? undefined : dollars < 1e-6 ? dollars / 1e6 : Number(`${dollars}e-6`)
}
