/** Entries that nobody waits for. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { standing } from "../../../../../test/support/events.ts"
import { answer, group, world } from "./support.ts"

describe("asynchronous entries", () => {
  it.effect("ends asynchronous commands with the session", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      let ended = 0
      const forever = Effect.onInterrupt(Effect.andThen(Deferred.succeed(started, undefined), Effect.never), () =>
        Effect.sync(() => void ended++))
      const { at } = world({ Stop: [group([{ command: "forever", async: true }])] }, { forever }, { drainMs: 0 })
      yield* at("preStop", { ...standing, text: "done", followUps: 0 })
      yield* Deferred.await(started)
      yield* at("onSessionEnd", { sessionId: "session-1", reason: "done" })
      assert.strictEqual(ended, 1)
    }))

  it.effect("gives asynchronous commands a little time after the session, which nobody waits for", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const ended: Array<string> = []
      const forever = Effect.onInterrupt(
        Effect.andThen(Deferred.succeed(started, undefined), Effect.never),
        () => Effect.sync(() => void ended.push("forever"))
      )
      const short = Effect.map(Effect.sleep("2 seconds"), () => {
        ended.push("short")
        return answer()
      })
      const { at } = world(
        { Stop: [group([{ command: "short", async: true }, { command: "forever", async: true }])] },
        { forever, short }
      )
      yield* at("preStop", { ...standing, text: "done", followUps: 0 })
      yield* Deferred.await(started)
      yield* at("onSessionEnd", { sessionId: "session-1", reason: "done" })
      assert.deepEqual(ended, [])
      yield* TestClock.adjust("3 seconds")
      assert.deepEqual(ended, ["short"])
      yield* TestClock.adjust("3 seconds")
      assert.deepEqual(ended, ["short", "forever"])
    }))

  const rewake = { Stop: [group([{ command: "check", asyncRewake: true }])] }

  // rows: C-24
  it.effect("with asyncRewake wake the host when they end with 2, and the agent reads them when it is about to stop", () =>
    Effect.gen(function*() {
      const woken: Array<unknown> = []
      const check = Effect.as(Effect.sleep("1 second"), answer("", 2, "the build is red\n"))
      const { at, heard } = world(rewake, { check }, { onWake: (wake) => void woken.push(wake) })
      yield* at("preStop", { ...standing, text: "done", followUps: 0 })
      yield* TestClock.adjust("2 seconds")
      assert.deepEqual([woken, heard.follow], [[{ sessionId: "session-1", text: "the build is red" }], []])
      yield* at("preStop", { ...standing, text: "done", followUps: 0 })
      assert.deepEqual(heard.follow, ["the build is red"])
    }))

  it.effect("with asyncRewake are read with the user's next message when the session was idle, and only if they end with 2", () =>
    Effect.gen(function*() {
      const { at, heard } = world({ Stop: [...rewake.Stop, group([{ command: "fine", asyncRewake: true }])] }, {
        check: answer("red, says standard output", 2),
        fine: answer("", 1, "not heard")
      })
      yield* at("preStop", { ...standing, text: "done", followUps: 0 })
      yield* TestClock.adjust("1 second")
      yield* at("preTurn", { message: "and now?" })
      assert.deepEqual([heard.injected, heard.follow], [["red, says standard output"], []])
    }))
})
