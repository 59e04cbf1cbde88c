/**
 * The caps of a turn.
 *
 * @since 0.1.0
 */

/**
 * Caps that are always on. Reaching one ends the turn with status `limited`; the run can be resumed.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  /** LLM calls of one turn. Default 50. */
  readonly steps: number
  /** Tool calls of one turn. Default 200. */
  readonly toolCalls: number
  /** Attempts of one LLM call, retries and fallbacks together. Default 6. */
  readonly attempts: number
  /** Follow-ups in a row that keep a turn going. Default 8. */
  readonly followUps: number
  /** Milliseconds of one turn. Default 30 minutes. */
  readonly wallClockMs: number
  /** Milliseconds of one tool call, unless the policy's grant has its own limit. Default 10 minutes. */
  readonly toolMs: number
}

/** The defaults. @category constants @since 0.1.0 */
export const defaultLimits: Limits = Object.freeze({
  steps: 50,
  toolCalls: 200,
  attempts: 6,
  followUps: 8,
  wallClockMs: 30 * 60_000,
  toolMs: 10 * 60_000
})
