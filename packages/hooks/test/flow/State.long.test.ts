/** What the hook knows stays small when an agent reads a hundred megabytes. */
import * as HookState from "@belay/core/HookState"
import { assert, describe, it } from "@effect/vitest"
import { largestKey, reading } from "./support/reading.ts"

describe("the state of data flow", () => {
  it("keeps its limits at a hundred megabytes", { timeout: 300_000 }, async () => {
    const state = await reading(100)
    assert.isBelow(largestKey(state), HookState.maxKey)
    assert.isBelow(JSON.stringify(state).length, HookState.maxTotal / 2)
  })
})
