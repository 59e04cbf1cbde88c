/** From where the attempts of an entry count. */
import type { Entry } from "@belay/core/Inbox"
import type { RunState } from "@belay/core/RunState"
import { assert, describe, it } from "vitest"
import { seenProgress } from "../../../../src/host/internal/advance/progress.ts"

const entry = (more: Partial<Entry> = {}): Entry =>
  ({ key: "k", status: "begun", attempts: 5, ...more }) as unknown as Entry

/** A stored turn that has made so many model calls, and whose calls have these states. */
const turn = (llmCalls: number, calls: ReadonlyArray<object> = [], key = "k"): RunState =>
  ({ input: { key }, counts: { llmCalls }, calls }) as unknown as RunState

const nothing = { progress: [], attempts: 0, isNew: false }

describe("the progress of a turn", () => {
  it("is new when it is more than what was stored, and counts finished tools at every depth", () => {
    const inner = turn(2, [{ status: "done" }, { status: "asked" }])
    const calls = [{ status: "done" }, { status: "started", child: inner }]
    assert.deepEqual(seenProgress(entry(), turn(3, calls)), { progress: [3, 1, 1, 2, 1, 0], attempts: 5, isNew: true })
  })

  it.for<readonly [string, unknown, object]>([
    ["as much", { progress: [3, 0], attempts: 2 }, { progress: [3, 0], attempts: 2, isNew: false }],
    ["more", { progress: [4, 0], attempts: 2 }, { progress: [4, 0], attempts: 2, isNew: false }],
    ["less", { progress: [2, 9, 0], attempts: 2 }, { progress: [3, 0], attempts: 5, isNew: true }],
    ["as many attempts as there were", { progress: [3, 0], attempts: 5 }, {
      progress: [3, 0],
      attempts: 5,
      isNew: false
    }],
    ["more attempts than there were", { progress: [9, 0], attempts: 6 }, {
      progress: [3, 0],
      attempts: 5,
      isNew: true
    }],
    ["a fraction", { progress: [9.5, 0], attempts: 2 }, { progress: [3, 0], attempts: 5, isNew: true }],
    ["a negative number", { progress: [9, 0], attempts: -1 }, { progress: [3, 0], attempts: 5, isNew: true }],
    ["a text", { progress: "9", attempts: 2 }, { progress: [3, 0], attempts: 5, isNew: true }],
    ["the number of an older release", { progress: 9, attempts: 2 }, { progress: [3, 0], attempts: 5, isNew: true }],
    ["nothing", undefined, { progress: [3, 0], attempts: 5, isNew: true }]
  ])("is compared with what was stored: %s", ([, outcome, expected]) => {
    assert.deepEqual(seenProgress(entry({ outcome: outcome as null }), turn(3)), expected)
  })

  it("is new with each step, also after a step with many tools and a long sub-agent", () => {
    const done = { status: "done" }
    const [open, long] = [{ status: "started" }, { status: "started", child: turn(30, [done]) }]
    const places = [
      turn(1, [open, open, open]),
      turn(1, [open, { status: "started", child: turn(0) }, open]),
      turn(1, [open, { status: "started", child: turn(1, [open]) }, long]),
      turn(1, [{ status: "started", child: turn(0) }, { status: "started", child: turn(1, [open]) }, long]),
      turn(1, [open, open, done]),
      turn(1, [done, done, done]),
      turn(2),
      turn(2, [open]),
      turn(2, [done])
    ]
    for (const [index, place] of places.entries()) {
      const { progress } = seenProgress(entry(), place)
      const outcome = { progress: [...progress], attempts: 2 }
      for (const [other, later] of places.entries()) {
        assert.strictEqual(seenProgress(entry({ outcome }), later).isNew, other > index, `${index} ${other}`)
      }
    }
  })

  it("is none without a stored turn, for another message, and what was stored counts only while it is begun", () => {
    assert.deepEqual(seenProgress(entry(), undefined), nothing)
    assert.deepEqual(seenProgress(entry(), turn(3, [], "other")), nothing)
    const stored = { progress: [3, 0], attempts: 2 }
    assert.deepEqual(seenProgress(entry({ status: "suspended", outcome: stored }), undefined), nothing)
    assert.deepEqual(seenProgress(entry({ outcome: stored }), undefined), { ...stored, isNew: false })
  })
})
