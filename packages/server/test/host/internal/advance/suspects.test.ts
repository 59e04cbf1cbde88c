/** Which suspects run at the same time, for any order of what they do. */
import { assert, it as property } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { describe, it } from "vitest"
import { Suspects } from "../../../../src/host/internal/site/suspects.ts"

const Act = Schema.Struct({
  act: Schema.Literals(["ask", "ask", "settle", "wait"]),
  id: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 }))
})

describe("suspects", () => {
  it("begin in the order in which they came, four at a time", () => {
    const suspects = new Suspects()
    const ids = ["a", "b", "c", "d", "e", "f", "g"]
    assert.deepEqual(ids.map((id) => suspects.begins(id, false, 0)), [true, true, true, true, false, false, false])
    assert.deepEqual(suspects.settle("b"), ["e", "f", "g"])
    assert.isFalse(suspects.begins("g", false, 1))
    assert.isFalse(suspects.begins("f", false, 1))
    assert.isTrue(suspects.begins("e", false, 1))
    assert.deepEqual(suspects.settle("nobody"), [])
  })

  it("begin alone before they would be given up, and those behind them wait for that", () => {
    const suspects = new Suspects()
    assert.isTrue(suspects.begins("a", false, 0))
    assert.isFalse(suspects.begins("last", true, 0))
    assert.isFalse(suspects.begins("b", false, 0))
    suspects.settle("a")
    assert.isFalse(suspects.begins("b", false, 1))
    assert.isTrue(suspects.begins("last", true, 1))
    assert.isFalse(suspects.begins("b", false, 1))
    suspects.settle("last")
    assert.isTrue(suspects.begins("b", false, 2))
  })

  it("hold up others for five seconds at most, and lose their place when they do not ask any more", () => {
    const suspects = new Suspects()
    assert.isTrue(suspects.begins("hangs", true, 0))
    assert.isFalse(suspects.begins("a", false, 0))
    assert.isFalse(suspects.begins("a", false, 5_000))
    assert.isTrue(suspects.begins("a", false, 5_001))
    assert.isFalse(suspects.begins("last", true, 5_002))
    assert.isFalse(suspects.begins("b", false, 5_003))
    assert.isFalse(suspects.begins("b", false, 15_002))
    assert.isTrue(suspects.begins("b", false, 15_003))
  })

  property.prop(
    "never run in more than a group, and never beside one whose message is about to be given up",
    { acts: Schema.Array(Act) },
    ({ acts }) => {
      const suspects = new Suspects()
      const running = new Map<string, number>()
      const isLast = (id: string) => Number(id) % 3 === 0
      let now = 0
      for (const { act, id: number } of acts) {
        const id = String(number)
        if (act === "wait") now += 1_000
        if (act === "settle") {
          suspects.settle(id)
          running.delete(id)
        }
        if (act !== "ask" || running.has(id)) continue
        if (!suspects.begins(id, isLast(id), now)) continue
        for (const [other, at] of running) if (now - at > 5_000) running.delete(other)
        running.set(id, now)
        assert.isAtMost(running.size, 4)
        if ([...running.keys()].some(isLast)) assert.strictEqual(running.size, 1)
      }
    }
  )
})
