/** The connection through which sessions are woken, and what engines say about their packages and databases. */
import { assert, it as effect } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { describe } from "vitest"
import { failing, needing, senderOf } from "../../../src/host/internal/sender.ts"

/** A connection that notes what happens to it. The first wake-ups fail. */
const connection = (failures = 0) => {
  const log: Array<string> = []
  let left = failures
  const wake = (sessionId: string, at?: number) =>
    Effect.suspend(() => {
      log.push(`wake ${sessionId} ${at}`)
      return left-- > 0 ? Effect.fail({ message: "busy", cause: { message: "no room" } }) : Effect.void
    })
  const open = Effect.acquireRelease(
    Effect.sync(() => (log.push("open"), wake)),
    () => Effect.sync(() => log.push("close"))
  )
  return { log, send: senderOf(open as never) }
}

describe("a wake-up", () => {
  effect.live("opens a connection, which the next one uses too", () =>
    Effect.gen(function*() {
      const { log, send } = connection()
      yield* send("a")
      yield* send("b", 5)
      assert.deepEqual(log, ["open", "wake a undefined", "wake b 5"])
    }))

  effect.live("is sent once more if it failed, and then says why", () =>
    Effect.gen(function*() {
      const one = connection(1)
      yield* one.send("a")
      assert.deepEqual(one.log, ["open", "wake a undefined", "wake a undefined"])
      const two = connection(2)
      const { _tag, message } = Object(yield* Effect.flip(two.send("a")))
      assert.deepEqual([_tag, message], ["EngineFailure", "the wake-up of session a was not stored: no room"])
      assert.lengthOf(two.log, 3)
    }))

  effect.effect("is given up after thirty seconds, because nobody answers", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.forkChild(Effect.flip(senderOf(Effect.succeed(() => Effect.never))("a")))
      yield* TestClock.adjust("29999 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.include(Object(yield* Fiber.join(fiber)).message, "the wake-up of session a was not stored: ")
    }))
})

describe("an engine", () => {
  effect.effect.each(
    [
      [Effect.fail({ message: "outer", cause: { message: "inner", cause: "no error" } }), "inner"],
      [Effect.fail({ message: "outer", cause: { message: 5 } }), "outer"],
      [Effect.die(new Error("broken")), "broken"],
      [Effect.fail("text"), "text"],
      [Effect.fail({ message: undefined, toString: () => "shown" }), "shown"]
    ] as const
  )("fails with the message of the first cause: %#", ([given, expected]) =>
    Effect.gen(function*() {
      const { _tag, message } = yield* Effect.flip(failing(given as Effect.Effect<never, unknown>))
      assert.deepEqual([_tag, message], ["EngineFailure", expected])
    }))

  effect.effect(
    "says which packages to install, if they are missing and for no other error",
    () =>
      Effect.gen(function*() {
        const load = (error: unknown) =>
          Effect.flip(needing("one two", async () => {
            throw error
          }))
        const missing = yield* load(Object.assign(new Error("x"), { code: "ERR_MODULE_NOT_FOUND" }))
        assert.strictEqual(
          Object(missing).message,
          "the engine needs packages that are not installed: npm install one two"
        )
        const other = new Error("other")
        assert.strictEqual(yield* load(other), other)
        assert.isUndefined(yield* load(undefined))
        assert.strictEqual(yield* needing("x", async () => 5), 5)
      })
  )
})
