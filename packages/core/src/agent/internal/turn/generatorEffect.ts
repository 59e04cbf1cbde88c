/**
 * Phases are generator functions: one calls the other without an operation of the fiber. Where somebody needs an
 * Effect, it is made here.
 */
import * as Effect from "effect/Effect"

/** An Effect that runs `body`; `yield*` inside another generator goes straight into it. */
export const phase = <A, E>(body: () => Effect.fn.Return<A, E>): Effect.Effect<A, E> => {
  const effect: { [Symbol.iterator]: unknown } = Effect.gen(body)
  effect[Symbol.iterator] = body
  return effect as Effect.Effect<A, E>
}
