/** Numbers from a seed: the same seed, the same numbers. */

export interface Random {
  /** From 0 up to, not including, `n`. */
  readonly below: (n: number) => number
  readonly chance: (p: number) => boolean
  readonly pick: <A>(from: ReadonlyArray<A>) => A
}

export const random = (seed: number): Random => {
  let state = (seed + 1) * 0x9e3779b9 | 0
  const next = (): number => {
    state = state + 0x6d2b79f5 | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = t + Math.imul(t ^ (t >>> 7), 61 | t) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  const below = (n: number) => Math.floor(next() * n)
  return { below, chance: (p) => next() < p, pick: (from) => from[below(from.length)]! }
}
