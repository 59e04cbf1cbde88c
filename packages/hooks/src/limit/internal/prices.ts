/** The cost of model calls, from their usage and a table of prices. */
import type { ConfigError } from "@belay/core/AgentError"
import { defined } from "@belay/core/Fields"
import { checkOptions, type Expectation, invalidOption, optionsIn, within } from "@belay/core/OptionCheck"
import type { Usage } from "@belay/core/Usage"
import * as Result from "effect/Result"
import { exactPrice, type Price36, roundToPico, toPico, wholePico } from "./money.ts"

/** The prices of a model's tokens, in US dollars for one token. @category models @since 0.1.0 */
export interface Price {
  readonly costPerInputToken: number
  readonly costPerOutputToken: number
  /** The price of an input token that the vendor read from its cache. Default `costPerInputToken`. */
  readonly costPerCachedToken?: number
  /** The price of an input token that the vendor wrote to its cache. Default `costPerInputToken`. */
  readonly costPerCacheWriteToken?: number
}

/** The prices of models as an option. */
export const priceTable = optionsIn<Price>(
  "table",
  {
    costPerInputToken: "number",
    costPerOutputToken: "number",
    costPerCachedToken: "number",
    costPerCacheWriteToken: "number"
  },
  ["costPerInputToken", "costPerOutputToken"]
)

/** The options that name prices. */
export interface PriceOptions extends Partial<Price> {
  readonly prices?: { readonly [model: string]: Price } | undefined
}

/** The prices of the four kinds of tokens. */
interface TokenPrices<A> {
  readonly input: A
  readonly cached: A
  readonly written: A
  readonly output: A
}

/** A price that can be multiplied without rounding. */
interface ExactPrice extends TokenPrices<Price36> {
  /** The same in pico-dollars, if all of them are whole numbers: numbers are multiplied faster. */
  readonly pico: TokenPrices<number> | undefined
}

/** Compiled prices. */
export interface PriceTable {
  /** The price of the first model that has one; otherwise the price beside the table, if there is one. */
  readonly priceOf: (models: ReadonlyArray<string | undefined>) => ExactPrice | undefined
  /** All prices, for a call of which the model is not known. */
  readonly all: ReadonlyArray<ExactPrice>
}

/** Compiles prices. Fails with a `ConfigError` for a price that is negative or not complete. */
export const compilePrices = (options: PriceOptions, hook: string): Result.Result<PriceTable, ConfigError> => {
  const { costPerCachedToken, costPerCacheWriteToken, costPerInputToken, costPerOutputToken, prices = {} } = options
  return Result.gen(function*() {
    yield* checkOptions(
      hook,
      within("costPerInputToken", costPerInputToken, 0),
      within("costPerOutputToken", costPerOutputToken, 0),
      within("costPerCachedToken", costPerCachedToken, 0),
      within("costPerCacheWriteToken", costPerCacheWriteToken, 0),
      ...Object.entries(prices).flatMap(([model, price]) => checkPrice(`prices["${model}"]`, price))
    )
    if ((costPerInputToken === undefined) !== (costPerOutputToken === undefined)) {
      const problem = "give a price for input tokens and for output tokens, or for neither"
      return yield* invalidOption(`${hook}.costPerInputToken`, problem)
    }
    const byModel = new Map(Object.entries(prices).map(([model, price]) => [model, exact(price)]))
    const otherwise = costPerInputToken === undefined || costPerOutputToken === undefined
      ? undefined
      : exact({
        costPerInputToken,
        costPerOutputToken,
        ...defined({ costPerCachedToken, costPerCacheWriteToken })
      })
    return {
      priceOf: (models) => models.flatMap((model) => byModel.get(model ?? "") ?? [])[0] ?? otherwise,
      all: otherwise === undefined ? [...byModel.values()] : [...byModel.values(), otherwise]
    }
  })
}

/** Both prices are required in the table, so that a missing one is `NaN` and fails the check. */
const checkPrice = (path: string, price: Price): ReadonlyArray<Expectation> => [
  within(`${path}.costPerInputToken`, Number(price.costPerInputToken), 0),
  within(`${path}.costPerOutputToken`, Number(price.costPerOutputToken), 0),
  within(`${path}.costPerCachedToken`, price.costPerCachedToken, 0),
  within(`${path}.costPerCacheWriteToken`, price.costPerCacheWriteToken, 0)
]

/**
 * Returns the cost of a call in pico-dollars, or a text that says why it is not known. A cost that the vendor reports
 * takes precedence over the price.
 */
export const costOf = (usage: Usage | undefined, price: ExactPrice | undefined): bigint | string => {
  if (usage === undefined) return "the vendor reported no usage"
  const { costUsd, inputTokens } = usage
  if (costUsd !== undefined) {
    return Number.isFinite(costUsd) && costUsd >= 0 ? toPico(costUsd) : `the vendor reported a cost of ${costUsd}`
  }
  if (price === undefined) return "there is no price for this model"
  const output = usage.billableOutputTokens ?? usage.outputTokens
  const cached = Math.min(usage.cachedTokens ?? 0, inputTokens)
  const written = Math.min(usage.cacheWriteTokens ?? 0, inputTokens - cached)
  if (![inputTokens, output, cached, written].every((tokens) => Number.isSafeInteger(tokens) && tokens >= 0)) {
    return `the vendor reported ${inputTokens} input, ${usage.cachedTokens ?? 0} cached and ${output} output tokens`
  }
  if (price.pico !== undefined) {
    const { pico } = price
    const cost = (inputTokens - cached - written) * pico.input + cached * pico.cached + written * pico.written +
      output * pico.output
    if (Number.isSafeInteger(cost)) return BigInt(cost)
  }
  return roundToPico(
    BigInt(inputTokens - cached - written) * price.input + BigInt(cached) * price.cached +
      BigInt(written) * price.written + BigInt(output) * price.output
  )
}

const exact = (price: Price): ExactPrice => {
  const { costPerCachedToken, costPerCacheWriteToken, costPerInputToken, costPerOutputToken } = price
  const input = exactPrice(costPerInputToken)
  const cached = exactPrice(costPerCachedToken ?? costPerInputToken)
  const written = exactPrice(costPerCacheWriteToken ?? costPerInputToken)
  const output = exactPrice(costPerOutputToken)
  const pico = {
    input: wholePico(input),
    cached: wholePico(cached),
    written: wholePico(written),
    output: wholePico(output)
  }
  const areWhole = Object.values(pico).every((one) => Number.isSafeInteger(one))
  return { input, cached, written, output, pico: areWhole ? pico : undefined }
}
