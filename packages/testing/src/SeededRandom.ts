/**
 * Random numbers from a seed, for tests that try many cases and can repeat one: the same seed gives the same numbers.
 *
 * @since 0.1.0
 */

import { checked } from "@belay/core/ArgumentCheck"

/** Random numbers that are the same for the same seed. @category models @since 0.1.0 */
export interface SeededRandom {
  /** A whole number from 0 up to, but not including, `n`. */
  readonly below: (n: number) => number
  /** True with probability `p`. */
  readonly chance: (p: number) => boolean
  /** One of the values. */
  readonly pick: <A>(from: ReadonlyArray<A>) => A
}

/**
 * Makes a generator (mulberry32).
 *
 * @example
 * ```ts
 * import { random } from "@belay/testing/SeededRandom"
 *
 * const { below, pick } = random(7)
 * const words = Array.from({ length: below(10) }, () => pick(["red", "green", "blue"]))
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const random = checked("SeededRandom.random", ["seed"], (seed: number): SeededRandom => {
  let state = (seed + 1) * 0x9e3779b9 | 0
  const next = (): number => {
    state = state + 0x6d2b79f5 | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = t + Math.imul(t ^ (t >>> 7), 61 | t) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  const below = (n: number) => Math.floor(next() * n)
  return { below, chance: (p) => next() < p, pick: (from) => from[below(from.length)]! }
})
