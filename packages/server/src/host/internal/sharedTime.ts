/** The time that all processes of a host share, although their clocks differ. */
import type { Inbox } from "@belay/core/Inbox"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** How long a difference between two clocks is used, in milliseconds. */
const keepMs = 10_000

/** Returns the time of an inbox in milliseconds since the epoch. It asks the inbox now and then. */
export const sharedTime = ({ now }: Inbox): Effect.Effect<number> => {
  if (now === undefined) return Clock.currentTimeMillis
  let [ahead, askedAt] = [0, -Infinity]
  const ask = Effect.gen(function*() {
    const before = yield* Clock.currentTimeMillis
    const theirs = yield* now
    const after = yield* Clock.currentTimeMillis
    ahead = Math.round(theirs - (before + after) / 2)
    askedAt = after
  })
  return Effect.gen(function*() {
    const time = yield* Clock.currentTimeMillis
    // An inbox that cannot be asked fails soon anyway.
    if (Math.abs(time - askedAt) > keepMs) yield* Effect.ignore(ask)
    return (yield* Clock.currentTimeMillis) + ahead
  })
}
