/** What a driver needs that makes a guard of its own for each call, as a command does. */
import { assert, describe, it } from "vitest"
import * as GuardSession from "../../src/guard/GuardSession.ts"
import { defineHook } from "../../src/hook/AgentHook.ts"
import * as HookAction from "../../src/hook/HookAction.ts"
import * as HookState from "../../src/hook/HookState.ts"
import * as SessionStore from "../../src/port/SessionStore.ts"

describe("a guard of its own for each call, with a store", () => {
  it("gives the context of a verdict once", async () => {
    const store = SessionStore.inMemory()
    let count = 0
    const note = defineHook({ name: "note", preToolCall: (_call, ctx) => ctx.inject(`note ${++count}`) })
    const contextOf = async (id: string) => {
      const session = GuardSession.make({ hooks: [note], store, id: "s", seesRequests: false })
      return (await session.toolCall({ id, name: "read" })).context.map(({ text }) => text)
    }
    assert.deepStrictEqual(await contextOf("1"), ["note 1"])
    assert.deepStrictEqual(await contextOf("2"), ["note 2"])
  })

  it("counts the calls of a sub-agent with those of the agent that started it", async () => {
    const store = SessionStore.inMemory()
    const calls = HookState.key("calls", 0)
    const counts = defineHook({
      name: "counts",
      preToolCall: (_call, { inject, state }) => inject(`${state.update(calls, (n) => n + 1)}`)
    })
    const count = async (id: string, isChild: boolean) => {
      const guard = GuardSession.guard({ hooks: [counts], store, seesRequests: false })
      const root = guard.session({ id: "s" })
      const session = isChild ? guard.session({ id: "s.child", agent: "child", parent: root }) : root
      return (await session.toolCall({ id, name: "read" })).context[0]?.text
    }
    const seen = [await count("1", false), await count("2", true), await count("3", false), await count("4", true)]
    assert.deepStrictEqual(seen, ["1", "2", "3", "4"])
  })

  it("knows the open questions of each sub-agent", async () => {
    const store = SessionStore.inMemory()
    const asks = defineHook({ name: "asks", preToolCall: () => HookAction.ask("really?") })
    const open = () => {
      const guard = GuardSession.guard({ hooks: [asks], store, seesRequests: false })
      const root = guard.session({ id: "s" })
      const childOf = (id: string) => guard.session({ id, agent: "child", parent: root })
      return { root, child: childOf("s.child"), other: childOf("s.other") }
    }
    await open().child.toolCall({ id: "1", name: "read" })
    const questions = async (of: "root" | "child" | "other") => (await open()[of].pending()).map(({ callId }) => callId)
    assert.deepStrictEqual(
      [await questions("root"), await questions("child"), await questions("other")],
      [["agent:s.child/1"], ["1"], []]
    )
    assert.strictEqual((await open().child.decide("1", { type: "approve" })).type, "allow")
    assert.deepStrictEqual(await questions("child"), [])
  })

  it("knows them also if the agents above are asked first, which may answer them", async () => {
    const store = SessionStore.inMemory()
    const asks = defineHook({ name: "asks", preToolCall: () => HookAction.ask("really?") })
    const open = () => {
      const guard = GuardSession.guard({ hooks: [asks], store, seesRequests: false })
      const root = guard.session({ id: "s" })
      const child = guard.session({ id: "s.child", agent: "child", parent: root })
      return { root, child, grandchild: guard.session({ id: "s.grandchild", agent: "grandchild", parent: child }) }
    }
    const call = { name: "read", args: { url: "a" } }
    const before = open()
    await before.child.toolCall({ ...call, id: "1" })
    await before.grandchild.toolCall({ ...call, id: "2" })
    const idsOf = async (one: GuardSession.GuardSession) => (await one.pending()).map(({ callId }) => callId)
    const after = open()
    const path = "agent:s.child/agent:s.grandchild/2"
    assert.sameMembers(await idsOf(after.root), ["agent:s.child/1", path])
    assert.sameMembers(await idsOf(after.child), ["1", "agent:s.grandchild/2"])
    assert.deepStrictEqual(await idsOf(after.grandchild), ["2"])
    assert.strictEqual((await after.child.decide("1", { type: "approve" })).type, "allow")
    const last = open()
    assert.strictEqual((await last.root.decide(path, { type: "approve" })).type, "allow")
    assert.strictEqual((await last.grandchild.toolCall({ ...call, id: "2" })).type, "allow")
    assert.deepStrictEqual(await last.root.pending(), [])
  })
})
