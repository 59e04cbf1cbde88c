/** The timer of a run, on a clock that the test moves. */
import { random } from "@belay/testing/SeededRandom"
import * as Effect from "effect/Effect"
import { afterEach, assert, beforeEach, describe, it, vi } from "vitest"
import { RunTimer } from "../../src/hook/internal/runTimer.ts"

const fiber = Effect.runFork(Effect.void)

describe("a timeout of a hook", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }))
  afterEach(() => void vi.useRealTimers())

  it.each([5, 200, 1_000, 30_000, 600_000])("of %i ms is never shorter, and at most a 32nd longer", (ms) => {
    for (let seed = 0; seed < 40; seed++) {
      const { below } = random(seed)
      let expiredAt: number | undefined
      const timer = new RunTimer(fiber, () => {
        expiredAt = performance.now()
      })
      // Hooks that answer in time, one after the other.
      for (let hooks = below(6); hooks > 0; hooks--) {
        timer.set(below(3) === 0 ? 2 * ms : ms)
        vi.advanceTimersByTime(Math.floor(below(1_000) / 1_000 * ms))
        assert.isUndefined(expiredAt, `seed ${seed}`)
        timer.clear()
        if (below(3) === 0) vi.advanceTimersByTime(ms)
      }
      const began = performance.now()
      timer.set(ms)
      vi.advanceTimersByTime(2 * ms)
      const took = expiredAt! - began
      assert.isAtLeast(took, ms - 1, `seed ${seed}`)
      assert.isAtMost(took, ms < 1_000 ? ms + 1 : ms * (1 + 1 / 32) + 1, `seed ${seed}`)
      timer.cancel()
    }
  })

  it("is exact for the first hook of a run", () => {
    let expiredAt: number | undefined
    const timer = new RunTimer(fiber, () => {
      expiredAt = performance.now()
    })
    const began = performance.now()
    timer.set(30_000)
    vi.advanceTimersByTime(29_999)
    assert.isUndefined(expiredAt)
    vi.advanceTimersByTime(2)
    assert.closeTo(expiredAt! - began, 30_000, 1)
  })

  it("does not expire after it was cleared or cancelled", () => {
    let expired = 0
    const timer = new RunTimer(fiber, () => expired++)
    timer.set(1_000)
    timer.set(1_000)
    timer.clear()
    vi.advanceTimersByTime(5_000)
    timer.set(1_000)
    timer.cancel()
    vi.advanceTimersByTime(5_000)
    assert.deepStrictEqual([expired, vi.getTimerCount()], [0, 0])
  })
})
