/** A clock that a test sets, as somebody sets that of a machine. What waits for a time goes on. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

export interface SettableClock {
  readonly clock: Clock.Clock
  /** Adds to the time. */
  readonly move: (ms: number) => void
}

export const settableClock: Effect.Effect<SettableClock> = Effect.map(Clock.Clock, (own) => {
  let ahead = 0
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => own.currentTimeMillisUnsafe() + ahead,
    currentTimeMillis: Effect.sync(() => clock.currentTimeMillisUnsafe()),
    currentTimeNanosUnsafe: () => own.currentTimeNanosUnsafe() + BigInt(ahead) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => clock.currentTimeNanosUnsafe()),
    monotonicTimeNanosUnsafe: () => own.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: own.monotonicTimeNanos,
    sleep: (duration) => own.sleep(duration)
  }
  return { clock, move: (ms) => void (ahead += ms) }
})
