/**
 * Tokens spent on one LLM call or on a whole run.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/** Tokens of one or more LLM calls. @category models @since 0.1.0 */
export interface Usage extends Schema.Schema.Type<typeof Usage> {}

/**
 * `inputTokens` includes `cachedTokens`; `outputTokens` is what the vendor reports; `billableOutputTokens` is
 * `max(completion, total - prompt)`, because some vendors leave reasoning out of their completion count.
 * `costUsd` is set only when the vendor itself reports a price.
 *
 * @category models
 * @since 0.1.0
 */
export const Usage = Schema.Struct({
  inputTokens: Schema.Finite,
  outputTokens: Schema.Finite,
  cachedTokens: Schema.optionalKey(Schema.Finite),
  reasoningTokens: Schema.optionalKey(Schema.Finite),
  billableOutputTokens: Schema.optionalKey(Schema.Finite),
  costUsd: Schema.optionalKey(Schema.Finite)
})

/** No tokens. @category constructors @since 0.1.0 */
export const zero: Usage = Object.freeze({ inputTokens: 0, outputTokens: 0 })

/** Adds two usages; a field is absent from the sum when it is absent from both. @category combining @since 0.1.0 */
export const add = (self: Usage, that: Usage): Usage => {
  const sum: { -readonly [K in keyof Usage]: Usage[K] } = {
    inputTokens: self.inputTokens + that.inputTokens,
    outputTokens: self.outputTokens + that.outputTokens
  }
  for (const key of optional) {
    const one = self[key]
    const other = that[key]
    if (one !== undefined || other !== undefined) sum[key] = (one ?? 0) + (other ?? 0)
  }
  return sum
}

const optional = ["cachedTokens", "reasoningTokens", "billableOutputTokens", "costUsd"] as const
