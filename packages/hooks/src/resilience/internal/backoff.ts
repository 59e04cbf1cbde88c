/** How long to wait before another try. */
import { type Expectation, oneOf, within } from "@belay/core/OptionCheck"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** How the pauses between tries grow. @category models @since 0.1.0 */
export interface Backoff {
  /**
   * `constant`: always the first pause; `linear`: the first pause times the number of the retry; `exponential`: grows
   * by `factor`. Default `exponential`.
   */
  readonly backoff?: "constant" | "linear" | "exponential"
  /** Default 2. */
  readonly factor?: number
  /** The first pause, in milliseconds. Default 1,000. */
  readonly initialDelayMs?: number
  /** The longest pause, in milliseconds. Default 60,000. */
  readonly maxDelayMs?: number
  /**
   * Chance in the pauses, so that many agents do not come back at once: none, from zero up (`full`), or from the half
   * up (`equal`). Default `equal`.
   */
  readonly jitter?: "none" | "full" | "equal"
}

export const expectations = (
  { backoff, factor, initialDelayMs, jitter, maxDelayMs }: Backoff,
  prefix = ""
): ReadonlyArray<Expectation> => [
  oneOf(`${prefix}backoff`, backoff, ["constant", "linear", "exponential"]),
  within(`${prefix}factor`, factor, 1),
  within(`${prefix}initialDelayMs`, initialDelayMs, 0),
  within(`${prefix}maxDelayMs`, maxDelayMs, 0),
  oneOf(`${prefix}jitter`, jitter, ["none", "full", "equal"])
]

/** Milliseconds before a retry, which is counted from 1. */
export const delayOf = (settings: Backoff, retry: number): Effect.Effect<number> => {
  const { backoff = "exponential", factor = 2, initialDelayMs = 1_000, jitter = "equal", maxDelayMs = 60_000 } =
    settings
  const grown = backoff === "constant"
    ? initialDelayMs
    : backoff === "linear"
    ? initialDelayMs * retry
    : initialDelayMs * factor ** (retry - 1)
  const pause = Math.min(grown, maxDelayMs)
  if (jitter === "none") return Effect.succeed(Math.round(pause))
  return Effect.map(
    Random.next,
    (chance) => Math.round(jitter === "full" ? pause * chance : pause * (0.5 + chance / 2))
  )
}
