/**
 * The cost of model calls in US dollars.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/** The cost of the calls of one model. @category models @since 0.1.0 */
export interface ModelCost extends Schema.Schema.Type<typeof ModelCost> {}
/** @category schemas @since 0.1.0 */
export const ModelCost = Schema.Struct({
  /** US dollars, without the calls whose cost is not known. */
  usd: Schema.Finite,
  /** Whether the cost of every call is known. */
  isComplete: Schema.Boolean,
  /** The number of calls, with those that failed and reported their usage. */
  calls: Schema.Finite
})

/**
 * What model calls cost: those of a turn, of its sub-agents and of hooks, with retries and fallbacks. A call costs what
 * its vendor reports (`usage.costUsd`), or else what its provider calculates (`LlmProvider.costOf`).
 *
 * @category models
 * @since 0.1.0
 */
export interface Cost extends Schema.Schema.Type<typeof Cost> {}
/** @category schemas @since 0.1.0 */
export const Cost = Schema.Struct({
  /** US dollars, without the calls whose cost is not known. */
  usd: Schema.Finite,
  /** Whether the cost of every call is known. If not, `usd` is only a part of what was spent. */
  isComplete: Schema.Boolean,
  /** By the name of the model that answered. */
  byModel: Schema.Record(Schema.String, ModelCost)
})

/**
 * Adds two amounts of US dollars. The sum is rounded to 12 decimals, so that it is the same as with decimal numbers.
 *
 * @category combining
 * @since 0.1.0
 */
export const addUsd = (a: number, b: number): number => Number((a + b).toFixed(12))
