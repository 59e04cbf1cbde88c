/** Hooks with `mode: "shadow"`: they run, and nothing that they do reaches the model or the user. */
import { make as scopeOf } from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { AgentHook } from "../../src/hook/AgentHook.ts"
import * as HookAction from "../../src/hook/HookAction.ts"
import * as HookChain from "../../src/hook/HookChain.ts"
import type { HookContext } from "../../src/hook/HookContext.ts"

const speak = (ctx: HookContext): HookAction.Reject => {
  ctx.inject("a word for the model")
  ctx.followUp("a task for the model")
  ctx.notifyUser("a word for the user")
  ctx.rotate()
  return HookAction.reject("no")
}

/** The ways in which a hook can answer. */
const ways: { readonly [how: string]: (ctx: HookContext) => unknown } = {
  "at once": speak,
  "with a promise": async (ctx) => {
    await Promise.resolve()
    return speak(ctx)
  },
  "with an Effect": (ctx) => Effect.andThen(Effect.yieldNow, Effect.sync(() => speak(ctx))),
  *"with a generator"(ctx) {
    yield* Effect.yieldNow
    return speak(ctx)
  }
}

describe("a shadow hook", () => {
  it.effect("stays one if it changes its context", () =>
    Effect.gen(function*() {
      const scope = scopeOf()
      const shadow: AgentHook = {
        name: "shadow",
        mode: "shadow",
        preTurn: (_, ctx) => speak(Object.assign(ctx, { silent: false }))
      }
      const { action } = yield* HookChain.makeUnsafe([shadow]).run("preTurn", { message: "x" }, scope)
      assert.strictEqual(action._tag, "Continue")
      assert.deepStrictEqual(scope.actions, [])
    }))

  for (const [how, method] of Object.entries(ways)) {
    for (const record of [true, false]) {
      it.effect(`that answers ${how} sends nothing and decides nothing (records: ${record})`, () =>
        Effect.gen(function*() {
          let runs = 0
          const preTurn = (_: unknown, ctx: HookContext) => {
            runs++
            return method(ctx)
          }
          const chain = HookChain.makeUnsafe([
            { name: "before" },
            { name: "shadow", mode: "shadow", preTurn } as AgentHook,
            { name: "after", preTurn: (_, ctx) => ctx.inject("heard") }
          ])
          const scope = scopeOf({ record })
          for (let n = 0; n < 2; n++) {
            const { action } = yield* chain.run("preTurn", { message: "x" }, scope)
            assert.strictEqual(action._tag, "Continue")
          }
          assert.strictEqual(runs, 2)
          assert.deepStrictEqual(scope.failures, [])
          assert.deepStrictEqual(scope.actions, ["after inject: heard", "after inject: heard"])
        }))
    }
  }
})
