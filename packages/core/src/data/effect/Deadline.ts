/**
 * Time limits that hold even when the limited effect does not end on interruption.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { timeOf } from "../internal/timer.ts"

/**
 * Returns a function that reads a clock which nobody can set, in milliseconds. Only differences of its values have a
 * meaning. In a test with a `TestClock`, it is that clock.
 *
 * @category operations
 * @since 0.2.0
 */
export const clock: Effect.Effect<() => number> = Effect.withFiber((fiber) => Effect.succeed(timeOf(fiber)))

/** Reads this clock. @category operations @since 0.2.0 */
export const now: Effect.Effect<number> = Effect.map(clock, (read) => read())

/**
 * Runs `effect` until its deadline. Use it instead of `Effect.timeout` when finalizers may be slow, because
 * `Effect.timeout` waits for them.
 *
 * `due` returns the deadline by the clock that `now` reads. It is called at the start, and again when the deadline is
 * reached, so the deadline may be postponed. If the deadline may also become earlier, pass `every`: `due` is then
 * called every that many milliseconds. At the deadline, the effect is interrupted without waiting for it, and the
 * result is that of `late`.
 *
 * @category operations
 * @since 0.1.0
 */
export const until = <A, E, B, F, R>(
  effect: Effect.Effect<A, E, R>,
  due: (now: number) => number,
  late: () => Effect.Effect<B, F>,
  every = Infinity
): Effect.Effect<A | B, E | F, R> =>
  Effect.context<R>().pipe(Effect.flatMap((context) =>
    Effect.callback<A | B, E | F>((resume) => {
      const run = Effect.runForkWith(context)
      const child = run(effect)
      const done = child.pollUnsafe()
      if (done !== undefined) return resume(done)
      const watch = run(Effect.gen(function*() {
        while (true) {
          const time = yield* now
          const left = due(time) - time
          if (left <= 0) break
          yield* Effect.sleep(Math.min(left, every, longest))
        }
        resume(Effect.suspend(late))
        child.interruptUnsafe()
      }))
      child.addObserver((exit) => {
        watch.interruptUnsafe()
        resume(exit)
      })
      return Effect.sync(() => {
        watch.interruptUnsafe()
        child.interruptUnsafe()
      })
    })
  ))

/** The longest time that a platform timer can wait for. */
const longest = 2_147_483_647
