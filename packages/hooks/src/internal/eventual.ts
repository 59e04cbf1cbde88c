/** Answers of callbacks: directly, as a promise, or as an Effect. */
import * as Effect from "effect/Effect"

/** A value, a promise of one, or an Effect of one. */
export type Eventual<A, R = never> = A | PromiseLike<A> | Effect.Effect<A, unknown, R>

/** Calls `f` and waits for its answer. The signal aborts when the wait is interrupted. */
export const eventual = <A, R>(f: (signal: AbortSignal) => Eventual<A, R>): Effect.Effect<A, unknown, R> =>
  Effect.suspend(() => {
    const controller = new AbortController()
    return Effect.try({ try: () => f(controller.signal), catch: (error) => error }).pipe(
      Effect.flatMap((answer): Effect.Effect<A, unknown, R> =>
        Effect.isEffect(answer)
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

/** What went wrong, in a line. */
export const say = (error: unknown): string => error instanceof Error ? error.message || error.name : String(error)
