/** Calls that wait until a reservation is settled. */
import * as Effect from "effect/Effect"

export type Waiters = Set<() => void>

const byObject = new WeakMap<object, Waiters>()

/** Returns those who wait for changes of this object. */
export const waitersOf = (object: object): Waiters => {
  const known = byObject.get(object)
  if (known !== undefined) return known
  const made: Waiters = new Set()
  byObject.set(object, made)
  return made
}

/** Wakes everybody who waits. */
export const wake = (all: ReadonlyArray<Waiters>): void => {
  for (const waiters of all) {
    const waiting = [...waiters]
    waiters.clear()
    for (const resume of waiting) resume()
  }
}

/** Waits until somebody calls `wake`, at most this many milliseconds. Other processes change a ledger without a call. */
export const wait = (all: ReadonlyArray<Waiters>, ms: number): Effect.Effect<void> =>
  Effect.raceFirst(
    Effect.callback<void>((resume) => {
      const wakeUp = () => resume(Effect.void)
      for (const waiters of all) waiters.add(wakeUp)
      return Effect.sync(() => all.forEach((waiters) => waiters.delete(wakeUp)))
    }),
    Effect.sleep(ms)
  )
