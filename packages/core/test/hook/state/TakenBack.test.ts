/** What a hook writes when it is asked again replaces what it wrote before, so that nothing counts twice. */
import { make as scopeOf } from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import * as HookChain from "../../../src/hook/HookChain.ts"
import type { HookContext } from "../../../src/hook/HookContext.ts"
import * as HookState from "../../../src/hook/HookState.ts"

const calls = HookState.key("calls", 0)
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Ways to count the calls of a guard that lets three run. */
const counters: { readonly [how: string]: (ctx: HookContext) => number | Promise<number> } = {
  "with update": ({ state }) => state.update(calls, (n) => n + 1),
  "with get and set": ({ state }) => {
    state.set(calls, state.get(calls) + 1)
    return state.get(calls)
  },
  "only when it is asked first": ({ askedAgain, state }) => askedAgain ? 1 : state.update(calls, (n) => n + 1),
  "with a pause before": async ({ state }) => {
    await turn()
    return state.update(calls, (n) => n + 1)
  },
  "with a pause after": async ({ state }) => {
    const made = state.update(calls, (n) => n + 1)
    await turn()
    return made
  }
}

const limit = (count: (ctx: HookContext) => number | Promise<number>, priority: number): AgentHook => ({
  name: "limit",
  kind: "policy",
  priority,
  reinvoke: "ifChanged",
  preToolCall: async (_call, ctx) => await count(ctx) > 3 ? HookAction.reject("only three calls") : undefined
})

const rewrite = (pause: boolean): AgentHook => ({
  name: "rewrite",
  preToolCall: (call) => {
    const action = HookAction.transform({ ...call, args: { ...Object(call.args), tenant: "acme" } })
    return pause ? turn().then(() => action) : action
  }
})

const event = (n: number) => ({
  id: `c${n}`,
  name: "query",
  args: { n },
  tool: { name: "query", description: "q", inputSchema: {} },
  grant: { sandbox: "none" as const }
})

describe("a guard that lets three calls run, beside a hook that changes their arguments", () => {
  for (const [how, count] of Object.entries(counters)) {
    for (const isParallel of [false, true]) {
      // A value that is read and written in two steps is not counted exactly by calls at the same time.
      if (isParallel && how === "with get and set") continue
      for (const pause of [false, true]) {
        it(`counts ${how}: exactly three run (${isParallel ? "at once" : "in order"}, pause: ${pause})`, async () => {
          const scope = scopeOf()
          const chain = HookChain.makeUnsafe([limit(count, 1), rewrite(pause)])
          const run = (n: number) => Effect.runPromise(chain.run("preToolCall", event(n), scope))
          const outcomes = isParallel
            ? await Promise.all([1, 2, 3, 4, 5].map(run))
            : await [1, 2, 3, 4, 5].reduce(
              async (all, n) => [...await all, await run(n)],
              Promise.resolve<Array<HookChain.Outcome<"preToolCall">>>([])
            )
          const passed = outcomes.filter(({ action }) => action._tag === "Transform")
          assert.lengthOf(passed, 3)
          assert.isTrue(passed.every(({ event }) => Object(event.args).tenant === "acme"))
          assert.strictEqual(scope.state.get(calls), 5)
        })
      }
    }
  }
})

describe("the writes of a hook that is asked again", () => {
  it.effect.prop(
    "leave the updates of all others, whatever is added at the same time",
    [Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: -5, maximum: 5 })))],
    ([amounts]) =>
      Effect.gen(function*() {
        const scope = scopeOf()
        const adding: AgentHook = {
          name: "adding",
          reinvoke: "ifChanged",
          preToolCall: async ({ args }, { state }) => {
            state.update(calls, (n) => n + Object(args).n)
            await turn()
          }
        }
        const chain = HookChain.makeUnsafe([adding, rewrite(true)])
        yield* Effect.promise(() =>
          Promise.all(amounts.map((n) => Effect.runPromise(chain.run("preToolCall", event(n), scope))))
        )
        assert.strictEqual(scope.state.get(calls), amounts.reduce((sum, n) => sum + n, 0))
      })
  )

  it("replace only the keys that it writes again", async () => {
    const [first, both] = [HookState.key("first", ""), HookState.key("both", "")]
    const scope = scopeOf()
    const writing: AgentHook = {
      name: "writing",
      reinvoke: "ifChanged",
      preToolCall: (_call, { askedAgain, state }) => {
        if (!askedAgain) state.set(first, "first answer")
        state.update(both, (text) => `${text}${askedAgain ? "second" : "first"} answer`)
      }
    }
    await Effect.runPromise(HookChain.makeUnsafe([writing, rewrite(false)]).run("preToolCall", event(1), scope))
    assert.deepStrictEqual(scope.state.snapshot(), { first: "first answer", both: "second answer" })
  })

  it("stay replaced if it only reads when it is asked once more", async () => {
    const scope = scopeOf()
    let asked = 0
    const writing: AgentHook = {
      name: "writing",
      reinvoke: "ifChanged",
      preToolCall: (_call, { state }) => void (++asked < 3 ? state.update(calls, (n) => n + 1) : state.get(calls))
    }
    const changing = (name: string, times: number): AgentHook => ({
      name,
      reinvoke: "reapply",
      preToolCall: (call) => times-- > 0 ? HookAction.transform({ ...call, args: { [name]: times } }) : undefined
    })
    const chain = HookChain.makeUnsafe([writing, changing("twice", 2), changing("once", 1)])
    await Effect.runPromise(chain.run("preToolCall", event(1), scope))
    assert.deepStrictEqual([asked, scope.state.get(calls)], [3, 1])
  })

  it("stay if its changes are made again, and it knows that it is asked again", async () => {
    const scope = scopeOf()
    const seen: Array<boolean> = []
    const reapplying: AgentHook = {
      name: "reapplying",
      reinvoke: "reapply",
      preToolCall: (_call, { askedAgain, state }) => {
        seen.push(askedAgain)
        state.update(calls, (n) => n + 1)
      }
    }
    await Effect.runPromise(HookChain.makeUnsafe([reapplying, rewrite(false)]).run("preToolCall", event(1), scope))
    assert.deepStrictEqual([seen, scope.state.get(calls)], [[false, true], 2])
  })

  it("are left out if a change that it made before stands", async () => {
    const scope = scopeOf()
    const changing: AgentHook = {
      name: "changing",
      reinvoke: "ifChanged",
      preToolCall: (call, { state }) => {
        state.update(calls, (n) => n + 1)
        return HookAction.transform({ ...call, args: { ...Object(call.args), changed: true } })
      }
    }
    await Effect.runPromise(HookChain.makeUnsafe([changing, rewrite(false)]).run("preToolCall", event(1), scope))
    assert.strictEqual(scope.state.get(calls), 1)
  })
})
