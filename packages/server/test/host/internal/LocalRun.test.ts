/** The sessions that the local engine advances again although they stay due. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import { afterEach, assert, describe, it, vi } from "vitest"
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

describe("a session that cannot be advanced", () => {
  afterEach(() => vi.useRealTimers())

  it("is advanced again after pauses that double, and after a success they begin anew", async () => {
    vi.useFakeTimers()
    const times: Array<number> = []
    let fails = true
    const run = new LocalRun({
      advance: () =>
        Effect.suspend(() => {
          times.push(Date.now())
          if (!fails) return Effect.void
          if (times.length === 5) run.wake("s")
          fails = times.length !== 5
          return fails ? Effect.fail("no") : Effect.sync(() => void (fails = true))
        }),
      concurrency: 1,
      context: Context.make(References.MinimumLogLevel, "None"),
      firstPauseMs: 1_000
    })
    run.wake("s")
    await vi.advanceTimersByTimeAsync(20_000)
    const pauses = times.slice(1).map((time, index) => time - times[index]!)
    // A pause is half as long to as long as this.
    for (const [index, most] of [250, 500, 1_000, 2_000, 0, 250, 500, 1_000].entries()) {
      assert.isAtMost(pauses[index]!, most + 5, pauses.join())
      assert.isAtLeast(pauses[index]!, most / 2, pauses.join())
    }
    const closing = Effect.runPromise(run.close)
    await vi.advanceTimersByTimeAsync(1)
    await closing
  })
})

describe("sessions for which there is no room", () => {
  /** A run that advances nothing before `go`. Its place for those that wait is four times as large as what it advances. */
  const held = () => {
    const advanced: Array<string> = []
    let go = (): void => {}
    const gate = new Promise<void>((resolve) => go = resolve)
    const run = new LocalRun({
      advance: (id) => Effect.promise(() => gate.then(() => void advanced.push(id))),
      concurrency: 1,
      context: Context.empty(),
      firstPauseMs: 1_000
    })
    return { advanced, run, go: () => go() }
  }
  const due = (count: number) => Array.from({ length: count }, (_, n) => ({ sessionId: `s${n}`, at: 0 }))
  const turn = () => new Promise(setImmediate)

  it("stay in the inbox, which is read again when there is room", async () => {
    const { advanced, go, run } = held()
    assert.strictEqual(run.limit, 4)
    run.addDue(due(3), false, 0)
    // One is advanced and two wait: two more fit, beside those that are worked on and those that were seen.
    assert.strictEqual(run.limit, 2 + 3 + 3)
    run.addDue(due(9), false, 0)
    assert.strictEqual(run.limit, 0)
    let hasRoom = false
    const room = Effect.runPromise(run.room).then(() => void (hasRoom = true))
    await turn()
    assert.isFalse(hasRoom)
    go()
    await room
    while (advanced.length < 9) {
      run.addDue(due(9), false, 0)
      await turn()
    }
    await Effect.runPromise(run.close)
    assert.deepStrictEqual(advanced, due(9).map(({ sessionId }) => sessionId))
  })

  it("are advanced later if they were woken, each once", async () => {
    const { advanced, go, run } = held()
    for (const { sessionId } of due(6)) run.wake(sessionId)
    const room = Effect.runPromise(run.room)
    go()
    await room
    while (advanced.length < 6) {
      run.addDue([], false, 0)
      await turn()
    }
    await turn()
    await Effect.runPromise(run.close)
    assert.deepStrictEqual(advanced, due(6).map(({ sessionId }) => sessionId))
    run.addDue(due(1), false, 0)
    await turn()
    assert.lengthOf(advanced, 6, "a closed run begins nothing")
  })
})
