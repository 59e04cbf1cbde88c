/** The time that all processes of a host share, although their clocks differ. */
import * as Deadline from "@belay/core/Deadline"
import type { Inbox } from "@belay/core/Inbox"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** How long a difference between two clocks is used, in milliseconds. */
const keepMs = 10_000

/** How far another clock is ahead of `Deadline.now`, in milliseconds. It is read half way through the answer. */
export const aheadOf = <E, R>(theirs: Effect.Effect<number, E, R>): Effect.Effect<number, E, R> =>
  Effect.gen(function*() {
    const before = yield* Deadline.now
    const time = yield* theirs
    return time - (before + (yield* Deadline.now)) / 2
  })

/**
 * Returns the time of an inbox in milliseconds since the epoch. It asks the inbox now and then, and counts from there
 * without the clock of this process, which may jump while it asks.
 */
export const sharedTime = ({ now }: Inbox): Effect.Effect<number> => {
  if (now === undefined) return Clock.currentTimeMillis
  let [ahead, askedAt] = [NaN, -Infinity]
  const ask = Effect.gen(function*() {
    ahead = yield* aheadOf(now)
    askedAt = yield* Clock.currentTimeMillis
  })
  return Effect.gen(function*() {
    const time = yield* Clock.currentTimeMillis
    // After a jump of the clock, this process may have been asleep. An inbox that cannot be asked fails soon anyway.
    if (Math.abs(time - askedAt) > keepMs) yield* Effect.ignore(ask)
    return Number.isNaN(ahead) ? time : Math.round((yield* Deadline.now) + ahead)
  })
}
