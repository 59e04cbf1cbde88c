/** The sessions that the local engine advances again although they stay due. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { LocalRun } from "../../../src/host/internal/localRun.ts"

describe("a session that stays due", () => {
  it("is advanced again after a pause that doubles, up to a minute", async () => {
    const times: Array<number> = []
    let now = 0
    const run = new LocalRun({
      advance: () => Effect.sync(() => void times.push(now)),
      concurrency: 1,
      context: Context.empty(),
      firstPauseMs: 1_000
    })
    for (; now <= 400_000; now += 500) {
      run.addDue([{ sessionId: "s", at: 0 }], false, now)
      await Effect.runPromise(Effect.yieldNow)
      await new Promise(setImmediate)
    }
    await Effect.runPromise(run.close)
    const pauses = times.slice(1).map((time, index) => time - times[index]!)
    assert.deepStrictEqual(pauses.slice(0, 8), [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
  })

  it("is advanced at once when something else in it is due", async () => {
    let count = 0
    const run = new LocalRun({
      advance: () => Effect.sync(() => void count++),
      concurrency: 1,
      context: Context.empty(),
      firstPauseMs: 1_000
    })
    for (const at of [0, 0, 5, 5, 6]) {
      run.addDue([{ sessionId: "s", at }], false, 10)
      await new Promise(setImmediate)
    }
    await Effect.runPromise(run.close)
    assert.strictEqual(count, 3)
  })
})
