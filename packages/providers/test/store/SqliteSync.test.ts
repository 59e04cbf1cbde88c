/** Operations of the SQLite store that are run with `Effect.runSync`. */
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { MixedScheduler } from "effect/Scheduler"
import { assert, describe, it } from "vitest"

/** As long as the store lets its operations follow each other, in milliseconds, and some more. */
const busyMs = 20

/** What an Effect has done without any turn of the event loop, as `Effect.runSync` needs it. */
const atOnce = <A>(effect: Effect.Effect<A, unknown>): A | "it waits" => {
  const fiber = Effect.runFork(effect, { scheduler: new MixedScheduler("sync") })
  const exit = fiber.pollUnsafe()
  fiber.interruptUnsafe()
  return exit !== undefined && Exit.isSuccess(exit) ? exit.value : "it waits"
}

describe("an operation that is run synchronously", () => {
  it("ends at once, however long the event loop has been busy with operations", () => {
    using store = SqliteStore.make({ path: ":memory:" })
    assert.isUndefined(Effect.runSync(store.sessions.load("s")))
    const end = performance.now() + busyMs
    while (performance.now() < end);
    assert.isUndefined(atOnce(store.sessions.load("s")))
    assert.deepEqual(atOnce(store.inbox.open("s")), [])
  })
})
