/**
 * Time limits that hold even when the limited effect does not end on interruption.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/**
 * Runs `effect` until it is due. `due` is asked (in milliseconds of the clock) at the beginning and whenever it seems
 * to be reached, so that it may
 * move on. Where it may also come closer, it is asked every so many milliseconds. `late` is then the answer, and what
 * still runs is interrupted and not waited for.
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
