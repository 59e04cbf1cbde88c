/** The same sum as in the quick set, of fifty times as many calls. */
import { assert, describe, it } from "vitest"
import { totalAfter } from "../support/costs.ts"

describe("CostTracker", () => {
  it("is exact after a million calls", () => {
    assert.deepEqual(totalAfter(1_000_000), { usd: 0.4, text: "$0.40", unknownCalls: 0 })
  })
})
