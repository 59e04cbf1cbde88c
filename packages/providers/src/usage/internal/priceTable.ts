/** Checks a table of prices. A misspelt price would make the cost of every call wrong. */
import type { ConfigError } from "@belay/core/AgentError"
import { checkKinds, checkObject, checkOptions, type OptionKinds, within } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"

/** Price of a model in US dollars per token. @category models @since 0.1.0 */
export interface Price {
  readonly costPerInputToken: number
  readonly costPerOutputToken: number
  /** For input tokens that the vendor read from its cache. Default: `costPerInputToken`. */
  readonly costPerCachedToken?: number
  /** For input tokens that the vendor wrote to its cache. Default: `costPerInputToken`. */
  readonly costPerCacheWriteToken?: number
}

const priceKinds: OptionKinds<Price> = {
  costPerInputToken: "number",
  costPerOutputToken: "number",
  costPerCachedToken: "number",
  costPerCacheWriteToken: "number"
}

/** Fails for the first price that is not one. */
export const checkTable = (owner: string, models: unknown): Result.Result<void, ConfigError> => {
  const table = checkObject(owner, models, "an object of prices by the names of models")
  if (Result.isFailure(table)) return table
  // It is an object.
  for (const [model, price] of Object.entries(models as { readonly [model: string]: Price })) {
    const place = `${owner}.${model}`
    const kinds = checkKinds(place, price, priceKinds, ["costPerInputToken", "costPerOutputToken"])
    if (Result.isFailure(kinds)) return kinds
    const amounts = checkOptions(place, ...Object.entries(price).map(([key, value]) => within(key, value, 0)))
    if (Result.isFailure(amounts)) return amounts
  }
  return Result.succeed(undefined)
}
