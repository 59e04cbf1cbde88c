/** The guard of a driver: tools that it runs inside the hooks. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Approvals from "../../src/guard/Approvals.ts"
import * as GuardSession from "../../src/guard/GuardSession.ts"
import { type AgentHook, defineHook } from "../../src/hook/AgentHook.ts"
import * as HookAction from "../../src/hook/HookAction.ts"

const make = (hooks: ReadonlyArray<AgentHook>, options: GuardSession.GuardOptions = {}) =>
  GuardSession.make({ hooks, log: false, ...options })

describe("a tool that the guard calls", () => {
  it("runs once with the arguments of the verdict, inside the hooks that wrap tools", async () => {
    const seen: Array<unknown> = []
    const session = make([
      defineHook({ name: "upper", preToolCall: (call) => HookAction.transform({ ...call, args: { q: "B" } }) }),
      defineHook({
        name: "wrapper",
        wrapToolCall: async (call, next) => {
          seen.push("before")
          const result = await next(call)
          seen.push("after")
          return result
        }
      })
    ])
    const verdict = await session.callTool({ id: "1", name: "search", args: { q: "b" } }, (args) => {
      seen.push(args)
      return ["hit"]
    })
    assert.deepStrictEqual(verdict, { type: "allow", result: { ok: true, output: ["hit"] }, context: [] })
    assert.deepStrictEqual(seen, ["before", { q: "B" }, "after"])
  })

  it("does not run if the guard denies, asks or answers", async () => {
    let runs = 0
    const run = () => ++runs
    const session = make([defineHook({
      name: "rules",
      preToolCall: ({ name }) => {
        if (name === "no") return HookAction.reject("no")
        return name === "ask" ? HookAction.ask("sure?") : name === "say" ? HookAction.respond("said") : undefined
      }
    })])
    assert.strictEqual((await session.callTool({ id: "1", name: "no" }, run)).type, "deny")
    assert.strictEqual((await session.callTool({ id: "2", name: "ask" }, run)).type, "ask")
    assert.deepInclude(await session.callTool({ id: "3", name: "say" }, run), { result: { ok: true, output: "said" } })
    assert.strictEqual(runs, 0)
    await session.decide("2", { type: "approve", by: "ann" })
    assert.strictEqual((await session.callTool({ id: "2", name: "ask" }, run)).type, "allow")
    assert.strictEqual(runs, 1)
  })

  it("that fails has its message as the result", async () => {
    const verdict = await make([]).callTool({ id: "1", name: "x" }, () => Promise.reject(new Error("no network")))
    assert.deepInclude(verdict, { type: "allow", result: { ok: false, error: "no network" } })
  })

  it("is judged again if the guard failed the first time", async () => {
    let loads = 0
    const rules: Approvals.RuleStore = {
      load: Effect.suspend(() => ++loads === 1 ? Effect.fail("the disk is full") : Effect.succeed([])),
      add: () => Effect.void
    }
    const session = make([defineHook({ name: "asks", preToolCall: () => HookAction.ask("sure?") })], {
      approvals: { rules }
    })
    const first = await session.toolCall({ id: "1", name: "x" }).then(
      ({ type }) => type,
      (error: Error) => error.message
    )
    assert.match(first, /the approval rules failed: the disk is full/)
    assert.strictEqual((await session.toolCall({ id: "1", name: "x" })).type, "ask")
  })

  it("does not run a second time while it runs", async () => {
    let end = () => {}
    const ended = new Promise<void>((resolve) => end = resolve)
    let begin = () => {}
    const begun = new Promise<void>((resolve) => begin = resolve)
    let runs = 0
    const session = make([])
    const call = { id: "1", name: "pay", args: {} }
    const run = async () => {
      runs++
      begin()
      await ended
      return "paid"
    }
    const first = Promise.resolve(session.callTool(call, run))
    await begun
    const again = await session.callTool(call, () => `paid ${++runs}`)
    assert.deepInclude(again, { type: "deny", reason: "call 1 is running already" })
    end()
    assert.deepInclude(await first, { type: "allow" })
    assert.strictEqual(runs, 1)
  })
})

describe("a session of a guard", () => {
  it("has an id that is not empty", () => {
    assert.throws(() => GuardSession.make({ id: "" }), /session\.id: expected a text that is not empty/)
  })
})

describe("a call", () => {
  it("that is asked about again has the verdict that it had, and no hook runs", async () => {
    const seen: Array<string> = []
    const judge: AgentHook = {
      name: "judge",
      preToolCall: ({ name }) => {
        seen.push(name)
        if (name === "denied") return HookAction.reject("no")
        return name === "answered" ? HookAction.respond("known") : undefined
      }
    }
    const session = make([judge])
    for (const name of ["denied", "answered", "allowed"]) {
      const [first, beside] = await Promise.all([1, 2].map(() => session.toolCall({ id: name, name })))
      assert.deepStrictEqual(beside, first)
      assert.deepStrictEqual(await session.toolCall({ id: name, name }), first)
    }
    assert.deepStrictEqual(seen, ["denied", "answered", "allowed"])
  })
})
