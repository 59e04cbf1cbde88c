/** The accounts of budgets. */
import * as Ledger from "@belay/hooks/Ledger"
import { assert, describe, it } from "@effect/vitest"

const amount = (tokens: number): Ledger.Amount => ({ money: String(tokens), tokens, calls: 1 })
const reservation: Ledger.Hold = { amount: amount(100), holder: "h", since: 0 }
const held = Ledger.hold(Ledger.hold(Ledger.empty, "a", reservation), "b", reservation)

describe("a call", () => {
  it("counts once, however often it is settled", () => {
    const once = Ledger.settle(held, "a", amount(10), true)
    assert.deepStrictEqual([once.spent, once.estimated, Object.keys(once.holds)], [amount(10), 1, ["b"]])
    assert.strictEqual(Ledger.settle(once, "a", amount(10), true), once)
    assert.strictEqual(Ledger.settle(once, "a", amount(99), false), once)
  })

  it("that was released or is unknown does not count", () => {
    const released = Ledger.release(held, "a")
    assert.strictEqual(Ledger.settle(released, "a", amount(10), false), released)
    for (const id of ["c", "toString", "__proto__"]) {
      assert.strictEqual(Ledger.settle(held, id, amount(10), false), held)
    }
  })

  it("that was lost counts once with what it reserved, also if it is settled later", () => {
    const reclaimed = Ledger.reclaim(held, (_hold, id) => id === "a")
    assert.deepStrictEqual([reclaimed.spent, reclaimed.estimated], [amount(100), 1])
    assert.deepStrictEqual(Object.keys(reclaimed.holds), ["b"])
    assert.strictEqual(Ledger.reclaim(reclaimed, (_hold, id) => id === "a"), reclaimed)
    assert.strictEqual(Ledger.settle(reclaimed, "a", amount(10), false), reclaimed)
  })

  it("of a value that is not an account is an error that names the function", () => {
    assert.throws(
      () => Ledger.reclaim({} as never, () => true),
      /^Ledger\.reclaim: it cannot use these values: account/
    )
  })
})
