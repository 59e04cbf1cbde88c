/** Reads token counts. Vendors use different fields. */
import type { Usage } from "@belay/core/Usage"
import { countOf, isObject, type Loose } from "../request/guards.ts"

/** Reads a usage object. Returns nothing if it has no counts. */
export const readUsage = (given: unknown): Usage | undefined => {
  if (!isObject(given)) return undefined
  const input = countOf(given.prompt_tokens) ?? countOf(given.input_tokens)
  const output = countOf(given.completion_tokens) ?? countOf(given.output_tokens)
  const total = countOf(given.total_tokens)
  if (input === undefined && output === undefined && total === undefined) return undefined
  const inputTokens = input ?? Math.max(0, (total ?? 0) - (output ?? 0))
  const outputTokens = output ?? Math.max(0, (total ?? 0) - inputTokens)
  const cachedTokens = detail(given, "prompt_tokens_details", "input_tokens_details", "cached_tokens") ??
    countOf(given.prompt_cache_hit_tokens) ?? countOf(given.cache_read_input_tokens) ?? countOf(given.num_cached_tokens)
  const cacheWriteTokens = detail(given, "prompt_tokens_details", "input_tokens_details", "cache_write_tokens") ??
    detail(given, "prompt_tokens_details", "input_tokens_details", "cache_creation_input_tokens") ??
    countOf(given.cache_creation_tokens)
  const reasoningTokens = detail(given, "completion_tokens_details", "output_tokens_details", "reasoning_tokens")
  const costUsd = cost(given)
  return {
    inputTokens,
    outputTokens,
    billableOutputTokens: Math.max(outputTokens, (total ?? 0) - inputTokens),
    ...(cachedTokens === undefined ? undefined : { cachedTokens }),
    ...(cacheWriteTokens === undefined ? undefined : { cacheWriteTokens }),
    ...(reasoningTokens === undefined ? undefined : { reasoningTokens }),
    ...(costUsd === undefined ? undefined : { costUsd })
  }
}

const detail = (usage: Loose, chat: string, responses: string, field: string): number | undefined => {
  const details = usage[chat] ?? usage[responses]
  return (isObject(details) ? countOf(details[field]) : undefined) ?? countOf(usage[field])
}

const ticksPerUsd = 1e10

const cost = (usage: Loose): number | undefined => {
  const ticks = countOf(usage.cost_in_usd_ticks)
  if (ticks !== undefined) return ticks / ticksPerUsd
  return countOf(usage.cost) ?? (isObject(usage.cost) ? countOf(usage.cost.total_cost) : undefined)
}
