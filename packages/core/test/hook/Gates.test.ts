import { make as scopeOf } from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { AgentHook } from "../../src/hook/AgentHook.ts"
import * as HookAction from "../../src/hook/HookAction.ts"
import * as HookChain from "../../src/hook/HookChain.ts"
import type { HookPointName, In } from "../../src/hook/HookPoint.ts"
import { eventAt } from "./events.ts"

const input = { message: "a" }
const call = eventAt("preToolCall", "rm") as In<"preToolCall">
const withArgs = (args: string) => HookAction.transform({ id: call.id, name: call.name, args })

const run = <P extends HookPointName>(point: P, event: In<P>, hooks: ReadonlyArray<AgentHook>) =>
  HookChain.makeUnsafe(hooks).run(point, event, scopeOf())

describe("only approved calls run:", () => {
  const approval = (asked: Array<unknown>, answer: () => HookAction.Ask | undefined = () => undefined): AgentHook => ({
    name: "approval",
    priority: 5,
    reinvoke: "ifChanged",
    preToolCall: ({ args }) => {
      asked.push(args)
      return answer()
    }
  })
  const change = (args: string): AgentHook => ({ name: `to ${args}`, preToolCall: () => withArgs(args) })

  it.effect("a gate sees the final value of a later change, and of a Replace before it", () =>
    Effect.gen(function*() {
      const asked: Array<unknown> = []
      yield* run("preToolCall", call, [approval(asked), change("b"), change("c")])
      assert.deepEqual(asked, [call.args, "c"])
      const late: Array<unknown> = []
      yield* run("preToolCall", call, [
        { ...approval(late), priority: 200 },
        { name: "r", preToolCall: () => HookAction.replace({ ...call, args: "x" }) }
      ])
      assert.deepEqual(late, ["x"])
    }))

  it.effect("a gate that keeps changing the value is stopped after three rounds", () =>
    Effect.gen(function*() {
      const gate = (name: string): AgentHook => ({
        name,
        reinvoke: "ifChanged",
        preTurn: ({ message }) => HookAction.transform({ message: message + name })
      })
      const { action, by } = yield* run("preTurn", input, [gate("a"), gate("b")])
      assert.deepEqual([action, by], [HookAction.reject("a was asked 3 times and the value still changes"), "a"])
    }))

  // rows: DEC-34
  it.effect("changed arguments are read as the tool will read them, and what does not fit is the hook's failure", () =>
    Effect.gen(function*() {
      const scope = scopeOf()
      const decode = (value: unknown) => {
        const { args } = value as { readonly args: unknown }
        return args === "bad"
          ? { ok: false as const, why: "expected good" }
          : { ok: true as const, value: { args: `read ${String(args)}` } }
      }
      const chain = HookChain.makeUnsafe([change("good"), change("bad")])
      const outcome = chain.runNow("preToolCall", call, scope, decode) as HookChain.Outcome<"preToolCall">
      assert.strictEqual(outcome.event.args, "read good")
      assert.deepInclude(scope.failures[0], {
        hook: "to bad",
        kind: "illegal",
        message: "Transform at preToolCall: expected good"
      })
    }))

  it.effect("a resumed run continues after the hook that asked, and asks no gate again about the same value", () =>
    Effect.gen(function*() {
      const asked: Array<unknown> = []
      const hooks = [approval(asked, () => HookAction.ask("may it?")), {
        name: "after",
        preToolCall: () => void asked.push("after")
      }]
      const chain = HookChain.makeUnsafe(hooks)
      const first = yield* chain.run("preToolCall", call, scopeOf())
      assert.deepEqual([first.action, asked], [HookAction.ask("may it?"), [call.args]])
      const settled = [{ hook: "approval", fingerprint: HookChain.fingerprint(call.name, call.args) }]
      const again = chain.runNow("preToolCall", call, scopeOf(), undefined, { after: "approval", settled })
      assert.isUndefined((again as HookChain.Outcome<"preToolCall">).by)
      assert.deepEqual(asked, [call.args, "after"])
      // With other arguments the answer does not count.
      const other = chain.runNow("preToolCall", { ...call, args: "other" }, scopeOf(), undefined, {
        after: "approval",
        settled
      })
      assert.strictEqual((other as HookChain.Outcome<"preToolCall">).by, "approval")
    }))

  it("the fingerprint depends on the tool and its arguments, not on the order of keys", () => {
    const { fingerprint } = HookChain
    assert.strictEqual(fingerprint("t", { a: 1, b: [2] }), fingerprint("t", { b: [2], a: 1 }))
    const all = [["t", { a: 1 }], ["t", { a: "1" }], ["t", { a: [1] }], ["u", { a: 1 }], ["t", { "a:1": 1 }], [
      "t",
      null
    ], [
      "t",
      "{}"
    ]] as const
    assert.lengthOf(new Set(all.map(([tool, args]) => fingerprint(tool, args))), all.length)
  })
})
