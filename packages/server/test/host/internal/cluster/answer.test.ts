/** How the wake-ups of a session share calls of `advance` in a cluster. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Semaphore from "effect/Semaphore"
import * as TestClock from "effect/testing/TestClock"
import { answerOf, type Runner } from "../../../../src/host/internal/cluster/answer.ts"

const tick = (ms = 0) => TestClock.adjust(ms)

/** A log of warnings. */
const warnings = (log: Array<string>) =>
  Logger.layer([Logger.make(({ message }) => void log.push(String([message].flat()[0])))])

describe("wake-ups of a session in a cluster", () => {
  const runner = (advance: (sessionId: string) => Effect.Effect<void, unknown>, more: Partial<Runner> = {}): Runner =>
    ({ advance, permits: Semaphore.makeUnsafe(1), open: new Map(), isClosing: false, ...more }) as never

  /** Lets all fibers go on until they wait for something. */
  const settle = Effect.forEach(Array.from({ length: 30 }), () => Effect.yieldNow, { discard: true })

  /** Calls of `advance` that end when the test says so. */
  const gated = () => {
    const ends: Array<() => void> = []
    const advance = () => Effect.callback<void>((resume) => void ends.push(() => resume(Effect.void)))
    return { ends, advance }
  }

  it.effect("that come while it is advanced share the next call", () =>
    Effect.gen(function*() {
      const { advance, ends } = gated()
      const one = runner(advance)
      const answer = answerOf(one, "s")
      const first = yield* Effect.forkChild(answer)
      yield* settle
      const others = [yield* Effect.forkChild(answer), yield* Effect.forkChild(answer)]
      yield* settle
      assert.deepEqual([ends.length, one.open.get("s")], [1, 3])
      ends[0]!()
      yield* Fiber.join(first)
      yield* settle
      assert.deepEqual([ends.length, one.open.get("s")], [2, 2])
      ends[1]!()
      for (const fiber of others) yield* Fiber.join(fiber)
      assert.deepEqual([ends.length, one.open.size], [2, 0])
      const later = yield* Effect.forkChild(answer)
      yield* settle
      ends[2]!()
      yield* Fiber.join(later)
      assert.lengthOf(ends, 3)
    }))

  it.effect("that are interrupted before their call has begun are not what a later one waits for", () =>
    Effect.gen(function*() {
      const { advance, ends } = gated()
      const one = runner(advance)
      const answer = answerOf(one, "s")
      const first = yield* Effect.forkChild(answer)
      yield* settle
      const waiting = yield* Effect.forkChild(answer)
      yield* settle
      yield* Fiber.interrupt(waiting)
      assert.deepEqual([ends.length, one.open.get("s")], [1, 1])
      const later = yield* Effect.forkChild(answer)
      yield* settle
      ends[0]!()
      yield* Fiber.join(first)
      yield* settle
      assert.lengthOf(ends, 2)
      ends[1]!()
      yield* Fiber.join(later)
      assert.strictEqual(one.open.size, 0)
    }))

  it.effect("of different sessions do not wait for each other, as far as there are permits", () =>
    Effect.gen(function*() {
      const { advance, ends } = gated()
      const one = runner(advance, { permits: Semaphore.makeUnsafe(2) })
      const fibers = [
        yield* Effect.forkChild(answerOf(one, "a")),
        yield* Effect.forkChild(answerOf(one, "b")),
        yield* Effect.forkChild(answerOf(one, "c"))
      ]
      yield* settle
      assert.lengthOf(ends, 2)
      ends[0]!()
      yield* settle
      assert.lengthOf(ends, 3)
      for (const end of ends) end()
      for (const fiber of fibers) yield* Fiber.join(fiber)
    }))

  it.effect("are answered when a call has succeeded, after others have failed", () => {
    const log: Array<string> = []
    return Effect.provide(
      Effect.gen(function*() {
        let failures = 3
        let calls = 0
        const one = runner(() =>
          Effect.suspend(() => {
            calls++
            return failures-- > 0 ? Effect.fail("away") : Effect.void
          })
        )
        const fiber = yield* Effect.forkChild(answerOf(one, "s"))
        yield* tick(249)
        assert.isBelow(calls, 3)
        yield* tick(3_000)
        yield* Fiber.join(fiber)
        assert.deepEqual([calls, log], [4, Array.from({ length: 3 }, () => "session s is advanced again later")])
      }),
      warnings(log)
    )
  })

  it.effect("leave a call alone that runs when the runner ends, and begin none", () =>
    Effect.gen(function*() {
      const { advance, ends } = gated()
      const one = runner(advance)
      const fiber = yield* Effect.forkChild(answerOf(one, "s"))
      yield* settle
      one.isClosing = true
      const ending = yield* Effect.forkChild(Fiber.interrupt(fiber))
      yield* settle
      assert.isUndefined(ending.pollUnsafe(), "it waits for the call")
      ends[0]!()
      yield* Fiber.join(ending)
      assert.strictEqual(one.open.size, 0)
      const late = yield* Effect.forkChild(answerOf(one, "s"))
      yield* settle
      assert.deepEqual([late.pollUnsafe(), ends.length], [undefined, 1])
      yield* Fiber.interrupt(late)
    }))

  it.effect("interrupt a call of a session that the runner has lost", () =>
    Effect.gen(function*() {
      const ends: Array<boolean> = []
      const one = runner(() =>
        Effect.onExit(Effect.never, (exit) => Effect.sync(() => void ends.push(Exit.isFailure(exit))))
      )
      const answer = answerOf(one, "s")
      const fiber = yield* Effect.forkChild(answer)
      yield* settle
      yield* Fiber.interrupt(fiber)
      assert.deepEqual([ends, one.open.size], [[true], 0])
      const again = yield* Effect.forkChild(answer)
      yield* settle
      yield* Fiber.interrupt(again)
      assert.lengthOf(ends, 2, "a wake-up after that begins another call")
    }))
})
