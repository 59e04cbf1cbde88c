import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { settableClock } from "../../../../../test/support/settableClock.ts"
import * as Deadline from "../../../src/data/effect/Deadline.ts"

const late = () => Effect.succeed("late")

describe("until", () => {
  it.effect("returns the result of an Effect that ends in time", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* Deadline.until(Effect.succeed("done"), () => 100, late), "done")
      const slow = yield* Effect.forkChild(Deadline.until(Effect.delay(Effect.succeed("done"), 50), () => 100, late))
      yield* TestClock.adjust(50)
      assert.strictEqual(yield* Fiber.join(slow), "done")
    }))

  it.effect("returns the late result at the deadline, without waiting for an Effect that does not end", () =>
    Effect.gen(function*() {
      const stubborn = Effect.onInterrupt(Effect.never, () => Effect.never)
      const fiber = yield* Effect.forkChild(Deadline.until(stubborn, () => 100, late))
      yield* TestClock.adjust(99)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* Fiber.join(fiber), "late")
    }))

  it.effect("reads the deadline again when it is reached, because it may have been postponed", () =>
    Effect.gen(function*() {
      let due = 100
      const fiber = yield* Effect.forkChild(Deadline.until(Effect.never, () => due, late))
      yield* TestClock.adjust(50)
      due = 200
      yield* TestClock.adjust(100)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(50)
      assert.strictEqual(yield* Fiber.join(fiber), "late")
    }))

  it.effect("notices a deadline that becomes earlier, if `every` is set", () =>
    Effect.gen(function*() {
      let due = 1_000
      const fiber = yield* Effect.forkChild(Deadline.until(Effect.never, () => due, late, 10))
      yield* TestClock.adjust(20)
      due = 25
      yield* TestClock.adjust(10)
      assert.strictEqual(yield* Fiber.join(fiber), "late")
    }))

  it.effect("interrupts the effect when it is interrupted itself", () =>
    Effect.gen(function*() {
      let interrupted = false
      const effect = Effect.onInterrupt(Effect.never, () => Effect.sync(() => void (interrupted = true)))
      const fiber = yield* Effect.forkChild(Deadline.until(effect, () => 100, late), { startImmediately: true })
      yield* Fiber.interrupt(fiber)
      yield* Effect.yieldNow
      assert.isTrue(interrupted)
    }))

  it.live("holds when somebody sets the clock of the machine back", () =>
    Effect.gen(function*() {
      const { clock, move } = yield* settableClock
      const slow = Effect.andThen(Effect.sync(() => move(-3_600_000)), Effect.never)
      const limited = Effect.flatMap(Deadline.now, (now) => Deadline.until(slow, () => now + 20, late))
      assert.strictEqual(yield* Effect.provideService(limited, Clock.Clock, clock), "late")
    }))
})
