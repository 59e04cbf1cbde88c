/**
 * Time limits that hold even when the limited effect does not end on interruption.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/**
 * Runs `effect` until its deadline. Use it where `Effect.timeout` is not enough: that one waits for finalizers. `due`
 * gives the deadline in milliseconds of the clock. It is called at the beginning, and again when the deadline seems to
 * be reached, so the deadline can move on. If the deadline can also come closer, pass `every`: `due` is then called at
 * that interval, in milliseconds. At the deadline the result is that of `late`; the effect is interrupted, and nobody
 * waits for it.
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
          const now = yield* Clock.currentTimeMillis
          const left = due(now) - now
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

/** What a timer of the platform can wait for. */
const longest = 2_147_483_647
