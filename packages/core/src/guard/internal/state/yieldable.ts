/**
 * The building blocks of turn steps. A step is a generator function. It calls another step with `yield*`, which needs
 * no fiber operation. Only asynchronous work is an Effect.
 */
import * as Effect from "effect/Effect"

/** Anything that a step can `yield*`: an Effect or an available value. */
export interface Yieldable<out A, out E = never> {
  [Symbol.iterator](): Iterator<Effect.Effect<unknown, E>, A, unknown>
}

/** A step: what a generator function of a turn returns. */
export type Step<A, E = never> = Effect.fn.Return<A, E>

/** An available value. It is its own iterator and its own last result, so that `yield*` allocates nothing else. */
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

/** A step that does nothing and returns nothing. */
export const nothing: Yieldable<undefined> = new Ready(undefined)

/** Waits for an Effect. Any other value is returned as it is. */
export const resolve = <A, E>(value: A | Effect.Effect<A, E>): Yieldable<A, E> =>
  Effect.isEffect(value) ? value : new Ready(value)

/** Makes an Effect from a step. If another step uses `yield*` on the Effect, the step runs directly. */
export const toEffect = <A, E>(step: () => Step<A, E>): Effect.Effect<A, E> => {
  const effect: { [Symbol.iterator]: unknown } = Effect.gen(step)
  effect[Symbol.iterator] = step
  // It is the same Effect; its iterator is a faster way to the same result.
  return effect as Effect.Effect<A, E>
}
