/** The work that goes on beside the session, and how it ends with it. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { make } from "../../src/engine/background.ts"

const of = (sessionId: string) => ({ root: { sessionId } }) as never

/** Starts work that never ends. `log` has what became of it. */
const begin = (background: ReturnType<typeof make>, session: string, log: Array<string>, name = session) =>
  background.start((isOpen) =>
    Effect.onInterrupt(
      Effect.never,
      () => Effect.sync(() => void log.push(`${name} ${isOpen() ? "open" : "closed"}`))
    ), of(session))

describe("work in the background", () => {
  it.effect("ends with its session, at once or after some time", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const now = make(0)
      yield* begin(now, "a", log)
      yield* begin(now, "b", log)
      yield* Effect.yieldNow
      yield* now.end("nothing")
      assert.deepEqual(log, [])
      yield* now.end("a")
      assert.deepEqual(log, ["a closed"])
      yield* now.drained
      yield* now.end("b")
      const later = make(100)
      yield* begin(later, "c", log)
      yield* begin(later, "c", log, "d")
      yield* Effect.yieldNow
      yield* later.end("c")
      const drained = yield* Effect.forkChild(later.drained)
      yield* TestClock.adjust(99)
      assert.deepEqual(log.slice(2), [])
      assert.isUndefined(drained.pollUnsafe())
      yield* TestClock.adjust(1)
      yield* Fiber.join(drained)
      assert.deepEqual(log.slice(1), ["b closed", "c closed", "d closed"])
      yield* later.drained
    }))

  it.effect("that has ended is not waited for, and the session is open until it ends", () =>
    Effect.gen(function*() {
      const background = make(1_000)
      const states: Array<boolean> = []
      const gate = yield* Deferred.make<void>()
      const first = yield* background.start(
        (isOpen) => Effect.map(Deferred.await(gate), () => void states.push(isOpen())),
        of("a")
      )
      const second = yield* background.start((isOpen) => Effect.sync(() => void states.push(isOpen())), of("a"))
      yield* Fiber.join(second)
      yield* background.end("a")
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(first)
      yield* background.drained
      assert.deepEqual(states, [true, false])
      const third = yield* background.start((isOpen) => Effect.sync(() => void states.push(isOpen())), of("a"))
      yield* Fiber.join(third)
      assert.deepEqual(states, [true, false, true])
    }))

  it.effect("is waited for at most one second", () =>
    Effect.gen(function*() {
      const background = make(0)
      const log: Array<string> = []
      const slow = Effect.andThen(Effect.sleep("3 seconds"), Effect.sync(() => void log.push("done")))
      const waiting = yield* Effect.forkChild(background.aside(slow, of("a")))
      yield* TestClock.adjust(999)
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust(1)
      yield* Fiber.join(waiting)
      yield* TestClock.adjust(2_000)
      assert.deepEqual(log, ["done"])
      yield* background.aside(Effect.sync(() => void log.push("quick")), of("a"))
      assert.deepEqual(log, ["done", "quick"])
    }))

  it.effect("ends the processes that a command has left", () =>
    Effect.gen(function*() {
      const background = make(0)
      const log: Array<string> = []
      const { promise, resolve } = Promise.withResolvers<void>()
      const end = () => {
        log.push("ended")
        resolve()
      }
      background.keep({ end, ended: promise } as never, of("a"))
      background.keep({ end: () => log.push("never"), ended: Promise.resolve() } as never, of("a"))
      yield* Effect.promise(() => new Promise((done) => setImmediate(done)))
      yield* background.end("a")
      assert.deepEqual(log, ["ended"])
    }))
})
