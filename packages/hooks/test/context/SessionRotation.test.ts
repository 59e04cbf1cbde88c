/** Which budgets end in a fresh session. The rotation itself is tested with the runtime. */
import * as HookChain from "@belay/core/HookChain"
import * as SessionRotation from "@belay/hooks/SessionRotation"
import * as TestScope from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

const warnings = (depth: number, scope: "window" | "turn", options: SessionRotation.Options = {}) =>
  Effect.gen(function*() {
    const agent = { name: "a", depth, invokedBy: depth === 0 ? "main" : "subagent" } as const
    const testScope = TestScope.make({ agent })
    const budget = { kind: "tokens", level: "exceeded", limit: 100, scope, used: 120 } as const
    yield* HookChain.makeUnsafe([SessionRotation.make(options)]).run("onBudget", budget, testScope)
    return testScope.warnings.length
  })

describe("SessionRotation", () => {
  it.effect("rotates for a budget of its scopes, by default that of the window", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* warnings(0, "window"), 1)
      assert.strictEqual(yield* warnings(0, "turn"), 0)
      assert.strictEqual(yield* warnings(0, "turn", { scopes: ["turn"] }), 1)
    }))

  it.effect("says nothing about the budget of a sub-agent, whose session ends with its work", () =>
    Effect.map(warnings(1, "window"), (count) => assert.strictEqual(count, 0)))
})
