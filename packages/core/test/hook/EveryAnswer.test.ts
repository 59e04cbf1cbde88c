/** A sample of all answers at all points. The scoreboard tries every one. */
import { assert, describe, it } from "@effect/vitest"
import { tryEveryAnswer } from "./everyAnswer.ts"

describe("a hook that answers anything, in any way, at any point, under any failure policy", () => {
  it("changes what the reference says it changes, and nothing else", async () => {
    const { tried, wrong } = await tryEveryAnswer(17)
    assert.deepStrictEqual(wrong, [])
    assert.isAbove(tried, 900)
  })
})
