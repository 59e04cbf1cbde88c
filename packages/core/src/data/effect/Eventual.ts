/**
 * The return type of callbacks: a value, a promise of it, or an Effect of it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"

export {
  /**
   * Calls a function that has to return an Effect. If it throws, or returns something else, that is a defect that names
   * it: a fiber that gets something else ends at once, without its finalizers.
   *
   * @category constructors
   * @since 0.2.0
   */
  portEffect
} from "./portEffect.ts"

/** A value, a promise of it, or an Effect of it. @category models @since 0.1.0 */
export type Eventual<A, R = never> = A | PromiseLike<A> | Effect.Effect<A, unknown, R>

/**
 * Calls `f` and waits for its result. The signal aborts when the wait is interrupted.
 *
 * @category constructors
 * @since 0.1.0
 */
export const eventual = <A, R>(f: (signal: AbortSignal) => Eventual<A, R>): Effect.Effect<A, unknown, R> =>
  Effect.suspend(() => {
    const controller = new AbortController()
    return Effect.try({ try: () => f(controller.signal), catch: (error) => error }).pipe(
      Effect.flatMap((answer): Effect.Effect<A, unknown, R> =>
        Effect.isEffect(answer)
          // `isEffect` cannot check the type parameters. A result that is neither an Effect nor a thenable is the
          // value.
          ? answer as Effect.Effect<A, unknown, R>
          : isThenable(answer)
          ? Effect.tryPromise({ try: () => answer, catch: (error) => error })
          : Effect.succeed(answer as A)
      ),
      Effect.onInterrupt(() => Effect.sync(() => controller.abort()))
    )
  })

const isThenable = <A>(answer: A | PromiseLike<A>): answer is PromiseLike<A> =>
  typeof answer === "object" && answer !== null && "then" in answer && typeof answer.then === "function"
