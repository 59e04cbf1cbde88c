/** Where a window of a budget ends and the next one begins. */
import { assert, describe, it } from "vitest"
import { accountOf } from "../../src/limit/internal/budgetCharges.ts"

describe("the account of an owner", () => {
  const at = (now: number, windowMs?: number, owner = "ada") => accountOf({ scope: "user", windowMs }, owner, now)

  it("is the same within a window, and another one from its last millisecond on", () => {
    assert.strictEqual(at(0, 1_000), at(999, 1_000))
    assert.notStrictEqual(at(999, 1_000), at(1_000, 1_000))
    assert.strictEqual(at(1_000, 1_000), at(1_999, 1_000))
    assert.notStrictEqual(at(1_999, 1_000), at(2_000, 1_000))
  })

  it("is one for all times without a window, and one for each owner", () => {
    assert.strictEqual(at(0), at(1e15))
    assert.notStrictEqual(at(5), at(5, undefined, "eve"))
  })
})
