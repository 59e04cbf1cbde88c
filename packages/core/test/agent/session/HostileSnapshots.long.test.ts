/** Every change of one place of a snapshot, and many changes of several places. */
import { assert, describe, it } from "@effect/vitest"
import { changeAtRandom, changeOnePlace } from "./hostileResumes.ts"

describe("a snapshot that was changed", () => {
  it("runs nothing that nobody approved if the agent has keys", async () => {
    assert.deepStrictEqual((await changeOnePlace(true, 1)).ran, [])
    assert.deepStrictEqual((await changeAtRandom(true, 3_000)).ran, [])
  })

  it("runs something else without keys only if a whole question was replaced", async () => {
    for (const one of (await changeOnePlace(false, 1)).ran) {
      assert.match(one, /(?:calls|calls\.\d|ask|child): (?:of another run|another valid value)$/)
    }
  })
})
