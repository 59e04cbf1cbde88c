/**
 * The tokens of LLM calls.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { addUsd } from "./Cost.ts"

/** The tokens of one or more LLM calls, and their cost if it is known. @category models @since 0.1.0 */
export interface Usage extends Schema.Schema.Type<typeof Usage> {}

/**
 * The tokens of one or more LLM calls.
 * - `inputTokens` includes `cachedTokens`, which were read from a cache, and `cacheWriteTokens`, which were written to
 *   one.
 * - `outputTokens` is the number that the vendor reports.
 * - `billableOutputTokens` is `max(completion, total - prompt)`, because some vendors do not include reasoning in their
 *   completion count.
 * - `costUsd` is the cost in US dollars, if the vendor reports it or the provider knows the price (`costOf`).
 *
 * @category models
 * @since 0.1.0
 */
export const Usage = Schema.Struct({
  inputTokens: Schema.Finite,
  outputTokens: Schema.Finite,
  cachedTokens: Schema.optionalKey(Schema.Finite),
  cacheWriteTokens: Schema.optionalKey(Schema.Finite),
  reasoningTokens: Schema.optionalKey(Schema.Finite),
  billableOutputTokens: Schema.optionalKey(Schema.Finite),
  costUsd: Schema.optionalKey(Schema.Finite)
})

/** No tokens. @category constructors @since 0.1.0 */
export const zero: Usage = Object.freeze({ inputTokens: 0, outputTokens: 0 })

/**
 * Adds two usages. A field is absent from the sum if it is absent from both. No usage at all counts as no tokens.
 *
 * @category combining
 * @since 0.1.0
 */
export const add = (a: Usage, b: Usage): Usage => {
  const self = a ?? zero
  const that = b ?? zero
  const sum: { -readonly [K in keyof Usage]: Usage[K] } = {
    inputTokens: self.inputTokens + that.inputTokens,
    outputTokens: self.outputTokens + that.outputTokens
  }
  for (const key of optional) {
    const one = self[key]
    const other = that[key]
    if (one === undefined && other === undefined) continue
    sum[key] = key === "costUsd" ? addUsd(one ?? 0, other ?? 0) : (one ?? 0) + (other ?? 0)
  }
  return sum
}

const optional = ["cachedTokens", "cacheWriteTokens", "reasoningTokens", "billableOutputTokens", "costUsd"] as const
