/** One timer for callbacks: the platform's, or the test clock's when a test runs on one. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"

const longest = 2_147_483_647

/** Whether the fiber's clock is one that a test moves. */
export const isTestClock = (fiber: Fiber.Fiber<unknown, unknown>): boolean => "adjust" in fiber.getRef(Clock.Clock)

/** Reads the fiber's clock, in milliseconds. Only differences of two readings have a meaning. */
export const timeOf = (fiber: Fiber.Fiber<unknown, unknown>): () => number => {
  const clock = fiber.getRef(Clock.Clock)
  return "adjust" in clock ? () => clock.currentTimeMillisUnsafe() : now
}

const now = (): number => performance.now()

/** Calls `f` after `ms` milliseconds of the fiber's clock. Returns a function that cancels the call. */
export const after = (fiber: Fiber.Fiber<unknown, unknown>, ms: number, f: () => void): () => void => {
  const clock = fiber.getRef(Clock.Clock)
  if ("adjust" in clock) {
    const sleeper = Effect.runForkWith(fiber.context)(
      Effect.flatMap(clock.sleep(Duration.millis(ms)), () => Effect.sync(f))
    )
    return () => sleeper.interruptUnsafe()
  }
  const timer = setTimeout(f, Math.min(ms, longest))
  return () => clearTimeout(timer)
}
