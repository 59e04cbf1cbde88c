/** What model calls cost. */
import type { LlmResponse } from "@belay/core/LlmCall"
import type { Guard } from "../Guard.ts"

/** Adds the cost to an answer, if the vendor has not reported it and the price is known. */
export const withCost = ({ prices }: Pick<Guard, "prices">, response: LlmResponse, provider?: string): LlmResponse => {
  const { model, usage } = response
  if (usage === undefined || usage.costUsd !== undefined || prices === undefined) return response
  const costUsd = prices.costOf(usage, model, provider)
  return costUsd === undefined ? response : { ...response, usage: { ...usage, costUsd } }
}
