/** Calls that wait until a reservation is settled. */
import * as Effect from "effect/Effect"

type Waiters = Set<() => void>

/** Those who wait, by the object for whose change they wait. */
const byObject = new WeakMap<object, Waiters>()

const waitersOf = (object: object): Waiters => {
  const known = byObject.get(object)
  if (known !== undefined) return known
  const made: Waiters = new Set()
  byObject.set(object, made)
  return made
}

/** Wakes everybody who waits for a change of this object. */
export const wake = (object: object): void => {
  const waiters = byObject.get(object)
  if (waiters === undefined) return
  byObject.delete(object)
  for (const resume of waiters) resume()
}

/**
 * Waits until somebody wakes those who wait for one of these objects, at most this many milliseconds. Other processes
 * change a ledger and wake nobody.
 */
export const wait = (objects: ReadonlyArray<object>, ms: number): Effect.Effect<void> =>
  Effect.timeoutOrElse(
    Effect.callback<void>((resume) => {
      const wakeUp = () => resume(Effect.void)
      for (const object of objects) waitersOf(object).add(wakeUp)
      return Effect.sync(() => objects.forEach((object) => byObject.get(object)?.delete(wakeUp)))
    }),
    { duration: ms, orElse: () => Effect.void }
  )
