/** The delays before retries. */
import { type Expectation, oneOf, within } from "@belay/core/OptionCheck"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** How the delays between attempts grow. @category models @since 0.1.0 */
export interface Backoff {
  /**
   * How the delay grows. `constant`: it stays the first delay. `linear`: it is the first delay times the number of the
   * retry. `exponential`: each delay is the last one times `factor`. Default `exponential`.
   */
  readonly backoff?: "constant" | "linear" | "exponential"
  /** The factor of `exponential`, at least 1. Default 2. */
  readonly factor?: number
  /** The first delay, in milliseconds. Default 1,000. */
  readonly initialDelayMs?: number
  /** The longest delay, in milliseconds. Default 60,000. */
  readonly maxDelayMs?: number
  /**
   * The random part of a delay, so that many agents do not retry at the same time: no part (`none`), the whole delay
   * (`full`), or its second half (`equal`). Default `equal`.
   */
  readonly jitter?: "none" | "full" | "equal"
}

/** The checks of these options. */
export const backoffChecks = (
  { backoff, factor, initialDelayMs, jitter, maxDelayMs }: Backoff,
  prefix = ""
): ReadonlyArray<Expectation> => [
  oneOf(`${prefix}backoff`, backoff, ["constant", "linear", "exponential"]),
  within(`${prefix}factor`, factor, 1),
  within(`${prefix}initialDelayMs`, initialDelayMs, 0),
  within(`${prefix}maxDelayMs`, maxDelayMs, 0),
  oneOf(`${prefix}jitter`, jitter, ["none", "full", "equal"])
]

/** Returns the milliseconds to wait before a retry. Retries are counted from 1. */
export const delayOf = (settings: Backoff, retry: number): Effect.Effect<number> => {
  const { backoff = "exponential", factor = 2, initialDelayMs = 1_000, jitter = "equal", maxDelayMs = 60_000 } =
    settings
  const growth = { constant: 1, linear: retry, exponential: factor ** (retry - 1) }
  const delay = Math.min(initialDelayMs * growth[backoff], maxDelayMs)
  if (jitter === "none") return Effect.succeed(Math.round(delay))
  return Effect.map(
    Random.next,
    (random) => Math.round(jitter === "full" ? delay * random : delay * (0.5 + random / 2))
  )
}
