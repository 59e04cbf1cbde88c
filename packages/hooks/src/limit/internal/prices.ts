/** What calls cost, from their usage and a table of prices. */
import { ConfigError } from "@belay/core/AgentError"
import type { Usage } from "@belay/core/Usage"
import * as Result from "effect/Result"
import { type Exact, exact, pico, rounded } from "./money.ts"

/** What tokens of a model cost, in US dollars each. @category models @since 0.1.0 */
export interface Price {
  readonly costPerInputToken: number
  readonly costPerOutputToken: number
  /** For input tokens that the vendor read from its cache. Default: as other input tokens. */
  readonly costPerCachedToken?: number
}

/** The options that numbers are read from. */
export interface Numbers extends Partial<Price> {
  readonly prices?: { readonly [model: string]: Price }
  readonly limit?: number
  readonly warnAt?: number
}

/** A price, ready to be multiplied. */
export interface ExactPrice {
  readonly input: Exact
  readonly cached: Exact
  readonly output: Exact
}

/** The same, checked. */
export interface Settings {
  /** The price of the first of the models that has one; the price beside the table for all others. */
  readonly priceOf: (models: ReadonlyArray<string | undefined>) => ExactPrice | undefined
  /** All prices there are: for a call of which nobody says what model will answer. */
  readonly all: ReadonlyArray<ExactPrice>
  /** In pico-dollars. */
  readonly limit: bigint | undefined
  readonly warnAt: bigint
}

/** Checks every number, or says which one is wrong. */
export const check = (options: Numbers, hook = "cost-tracker"): Result.Result<Settings, ConfigError> => {
  const refuse = (key: string, why: string): Result.Result<never, ConfigError> =>
    Result.fail(new ConfigError({ key: `${hook}.${key}`, message: `${hook}.${key}: ${why}` }))
  const { costPerCachedToken, costPerInputToken, costPerOutputToken, limit, warnAt = 0.8 } = options
  const tables = Object.entries(options.prices ?? {})
  const numbers = [
    ...Object.entries({ costPerInputToken, costPerOutputToken, costPerCachedToken, limit, warnAt }),
    ...tables.flatMap(([model, price]) =>
      Object.entries({
        ...price,
        costPerInputToken: price.costPerInputToken,
        costPerOutputToken: price.costPerOutputToken
      })
        .map(([name, usd]) => [`prices["${model}"].${name}`, Number(usd)] as const)
    )
  ]
  const wrong = numbers.find(([, value]) => value !== undefined && !isAmount(value))
  if (wrong !== undefined) return refuse(wrong[0], `expected a number that is not negative, found ${String(wrong[1])}`)
  if ((costPerInputToken === undefined) !== (costPerOutputToken === undefined)) {
    return refuse("costPerInputToken", "input and output tokens need a price, or neither")
  }
  const byModel = new Map(tables.map(([model, price]) => [model, exactly(price)]))
  const other = costPerInputToken === undefined || costPerOutputToken === undefined
    ? undefined
    : exactly({ costPerInputToken, costPerOutputToken, costPerCachedToken: costPerCachedToken ?? costPerInputToken })
  return Result.succeed({
    priceOf: (models) => models.flatMap((model) => byModel.get(model ?? "") ?? [])[0] ?? other,
    all: [...byModel.values(), ...(other === undefined ? [] : [other])],
    limit: limit === undefined ? undefined : pico(limit),
    warnAt: limit === undefined ? 0n : pico(limit * warnAt)
  })
}

/** Pico-dollars, or why they are not known. The vendor's own figure goes before the price. */
export const costOf = (usage: Usage | undefined, price: ExactPrice | undefined): bigint | string => {
  if (usage === undefined) return "the vendor reported no usage"
  const { costUsd, inputTokens } = usage
  if (costUsd !== undefined) return isAmount(costUsd) ? pico(costUsd) : `the vendor reported a cost of ${costUsd}`
  if (price === undefined) return "there is no price for this model"
  const output = usage.billableOutputTokens ?? usage.outputTokens
  const cached = Math.min(usage.cachedTokens ?? 0, inputTokens)
  if (![inputTokens, output, cached].every((tokens) => Number.isSafeInteger(tokens) && tokens >= 0)) {
    return `the vendor reported ${inputTokens} input, ${usage.cachedTokens ?? 0} cached and ${output} output tokens`
  }
  return rounded(
    BigInt(inputTokens - cached) * price.input + BigInt(cached) * price.cached + BigInt(output) * price.output
  )
}

const exactly = ({ costPerCachedToken, costPerInputToken, costPerOutputToken }: Price): ExactPrice => ({
  input: exact(costPerInputToken),
  cached: exact(costPerCachedToken ?? costPerInputToken),
  output: exact(costPerOutputToken)
})

const isAmount = (value: number): boolean => Number.isFinite(value) && value >= 0
