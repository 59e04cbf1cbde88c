/**
 * What the steps of a turn are written with. A step is a generator function; it calls another step with `yield*`, which
 * costs no operation of the fiber. Only what really waits is an Effect.
 */
import * as Effect from "effect/Effect"

/** Something that a step can `yield*`: an Effect, or a value that is there already. */
export interface Yieldable<out A, out E = never> {
  [Symbol.iterator](): Iterator<Effect.Effect<unknown, E>, A, unknown>
}

/** A step: what a generator function of a turn returns. */
export type Step<A, E = never> = Effect.fn.Return<A, E>

/**
 * A value that is there already. It is its own iterator and its own last result, so `yield*` allocates nothing else.
 */
class Ready<A> implements Yieldable<A> {
  readonly done = true
  readonly value: A

  constructor(value: A) {
    this.value = value
  }
  next(): IteratorReturnResult<A> {
    return this
  }
  [Symbol.iterator](): Iterator<never, A, unknown> {
    return this
  }
}

/** Nothing to wait for, and nothing as the result. */
export const nothing: Yieldable<undefined> = new Ready(undefined)

/** Waits for an Effect; takes any other value as it is. */
export const resolve = <A, E>(value: A | Effect.Effect<A, E>): Yieldable<A, E> =>
  Effect.isEffect(value) ? value : new Ready(value)

/** Makes an Effect of a step. Another step that `yield*`s the Effect runs the step directly. */
export const toEffect = <A, E>(step: () => Step<A, E>): Effect.Effect<A, E> => {
  const effect: { [Symbol.iterator]: unknown } = Effect.gen(step)
  effect[Symbol.iterator] = step
  // Still the same Effect: only its iterator is a shorter way to the same result.
  return effect as Effect.Effect<A, E>
}
