/** What a host has done since it was made, in this process. */
import type { Outcome } from "../../Outcome.ts"

/** Numbers that only grow. @category models @since 0.1.0 */
export interface Counters {
  /** How turns have ended or stopped to wait for people, by the status of their outcome. */
  readonly outcomes: { readonly [S in Outcome["status"]]?: number }
  /** Turns that were continued after another process had left them. */
  readonly takeovers: number
  /** Attempts after the first one. */
  readonly retries: number
  /** Messages that were given up. */
  readonly dead: number
  readonly inputTokens: number
  readonly outputTokens: number
}

/** The counters of a host while it counts. */
export interface Counting extends Counters {
  outcomes: { [S in Outcome["status"]]?: number }
  takeovers: number
  retries: number
  dead: number
  inputTokens: number
  outputTokens: number
}

export const newCounters = (): Counting => ({
  outcomes: {},
  takeovers: 0,
  retries: 0,
  dead: 0,
  inputTokens: 0,
  outputTokens: 0
})

/** Counts how a turn has ended. `before` is what it had spent when it was resumed. */
export const countOutcome = (counters: Counting, outcome: Outcome, before?: Outcome): void => {
  counters.outcomes[outcome.status] = (counters.outcomes[outcome.status] ?? 0) + 1
  if (!("usage" in outcome)) return
  const spent = before !== undefined && "usage" in before ? before.usage : { inputTokens: 0, outputTokens: 0 }
  counters.inputTokens += Math.max(0, outcome.usage.inputTokens - spent.inputTokens)
  counters.outputTokens += Math.max(0, outcome.usage.outputTokens - spent.outputTokens)
}
