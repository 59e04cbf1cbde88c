/** The time that processes share whose clocks differ. */
import { assert, it as effect } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { describe } from "vitest"
import { settableClock } from "../../../../../test/support/settableClock.ts"
import { sharedTime } from "../../../src/host/internal/sharedTime.ts"

describe("the shared time", () => {
  effect.effect("is that of this process if the inbox has none", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(500)
      assert.strictEqual(yield* sharedTime({} as never), 500)
    }))

  effect.effect(
    "is that of the inbox, which is asked every ten seconds and after a jump",
    () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(100_000)
        let [ahead, asked] = [700, 0]
        const now = Effect.map(Clock.currentTimeMillis, (time) => (asked++, time + ahead))
        const time = sharedTime({ now } as never)
        assert.strictEqual(yield* time, 100_700)
        ahead = -300
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual(yield* time, 110_700)
        yield* TestClock.adjust("1 millis")
        assert.strictEqual(yield* time, 109_701)
        assert.strictEqual(asked, 2)
        yield* TestClock.setTime(50_000)
        assert.strictEqual(yield* time, 49_700)
        assert.strictEqual(asked, 3)
      })
  )

  effect.effect("counts with the time that the question takes", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(100_000)
      // The answer was made in the middle.
      const now = Effect.sync(() => 200_000)
      const slow = Effect.tap(Effect.andThen(TestClock.adjust("1 second"), now), () => TestClock.adjust("1 second"))
      assert.strictEqual(yield* sharedTime({ now: slow } as never), 201_000)
    }))

  effect.live("is right although the clock jumps while the inbox is asked", () =>
    Effect.gen(function*() {
      const { clock, move } = yield* settableClock
      const before = yield* Clock.currentTimeMillis
      const now = Effect.sync(() => (move(3_600_000), before))
      const shared = yield* Effect.provideService(sharedTime({ now } as never), Clock.Clock, clock)
      assert.closeTo(shared - before, 0, 60_000)
    }))

  effect.effect("goes on as it was while the inbox cannot be asked", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(100_000)
      let isAway = false
      const now = Effect.suspend(() => isAway ? Effect.fail("away") : Effect.succeed(100_500))
      const time = sharedTime({ now } as never)
      assert.strictEqual(yield* time, 100_500)
      isAway = true
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* time, 160_500)
      // It was never asked.
      const own = sharedTime({ now } as never)
      assert.strictEqual(yield* own, 160_000)
      isAway = false
      assert.strictEqual(yield* own, 100_500)
    }))
})
