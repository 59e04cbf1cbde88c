/**
 * The limits of a turn.
 *
 * @since 0.1.0
 */

/**
 * The limits of a turn. They always apply. A turn that reaches one ends with status `limited`, and the run can be
 * resumed. `textLength` limits what comes from outside; a turn does not end because of it.
 *
 * `steps`, `toolCalls` and `wallClockMs` count what the agent and its sub-agents do, at any depth. A run that was
 * suspended or parked continues to count when it is resumed; after a limit it starts again from zero.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  /** The maximum number of LLM calls in a turn, with those of sub-agents. Calls of hooks do not count. Default 50. */
  readonly steps: number
  /** The maximum number of tool calls in a turn, with those of sub-agents. Calls of hooks do not count. Default 200. */
  readonly toolCalls: number
  /** The maximum number of attempts of an LLM call, including retries and fallbacks. Default 6. */
  readonly attempts: number
  /** The maximum number of follow-ups in a row in a turn. Default 8. */
  readonly followUps: number
  /**
   * How many failures of hooks a turn may ignore, with those in sub-agents: failures after which the chain continued,
   * because the hook fails open. One more ends the turn before the next model call. Default: any number.
   */
  readonly failOpens: number
  /**
   * The maximum duration of a turn, in milliseconds, without the time in which people are asked. Default 30 minutes.
   */
  readonly wallClockMs: number
  /** The maximum duration of a tool call in milliseconds, unless the policy's grant has a limit. Default 10 minutes. */
  readonly toolMs: number
  /**
   * The maximum number of characters of a user's message, of an answer of the model with the arguments of its calls,
   * and of the texts in a tool's result. A longer message is a `SessionError`, a longer answer a `Malformed` error, and
   * a longer result is cut and says so. Files of a message do not count. Default 5,000,000.
   */
  readonly textLength: number
}

/** The default limits. @category constants @since 0.1.0 */
export const defaultLimits: Limits = Object.freeze({
  steps: 50,
  toolCalls: 200,
  attempts: 6,
  followUps: 8,
  failOpens: Infinity,
  wallClockMs: 30 * 60_000,
  toolMs: 10 * 60_000,
  textLength: 5_000_000
})
