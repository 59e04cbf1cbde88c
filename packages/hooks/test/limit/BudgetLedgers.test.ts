/** Ledgers that programs without types write. */
import { createAgent } from "@belay/core"
import * as Budget from "@belay/hooks/Budget"
import type { Ledger } from "@belay/hooks/Ledger"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { text } from "../support/budget.ts"

describe("a ledger whose update returns no Effect", () => {
  it.each<readonly [what: string, update: () => unknown]>([
    ["a promise", () => Promise.resolve({})],
    ["a promise", () => Promise.reject(new Error("away"))],
    ["nothing", () => undefined]
  ])("stops the call with a sentence about it: %s", async (what, update) => {
    const limits = [{ scope: "user", tokens: 10, key: () => "ada" }]
    let calls = 0
    await using agent = createAgent({
      provider: { name: "counting", complete: () => Effect.sync(() => (calls++, text("ok"))) },
      hooks: [Budget.make({ limits, ledger: { update } as Ledger })],
      log: false
    })
    const error = await agent.run("go").then(() => assert.fail("expected a rejection"), (cause: Error) => cause)
    assert.include(error.message, `update of the ledger returned ${what} where an Effect is expected`)
    assert.strictEqual(calls, 0)
  })
})
