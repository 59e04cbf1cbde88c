/** `ctx.state` with plain names, as programs without types use it. */
import { assert, describe, it } from "@effect/vitest"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import * as HookState from "../../../src/hook/HookState.ts"
import { recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

/** A cost tracker as a program in JavaScript writes it. */
const costs: AgentHook = {
  name: "costs",
  postLlmCall: (_event, { state }) => {
    const before = Number(state.get("total_cost") ?? 0)
    state.set("total_cost", before + 2)
    state.update("calls", (calls) => [...(calls ?? []) as Array<number>, before])
  }
}

describe("ctx.state with plain names", () => {
  it("holds JSON that the whole tree shares, and that a suspended run takes along", async () => {
    const costsSeen: Array<unknown> = []
    const sees: AgentHook = {
      name: "sees",
      kind: "observer",
      postTurn: (_, { state }) => void costsSeen.push(state.get("total_cost"))
    }
    const gate: AgentHook = { name: "gate", tools: "look", preToolCall: () => HookAction.ask("sure?") }
    const models = [scripted([asks(["look"]), "done"]), scripted([asks(["inner", { message: "go" }]), "done"])] as const
    const make = () => {
      const inner = createAgent({
        name: "inner",
        provider: models[0].provider,
        tools: [recording("look").tool]
      })
      return createAgent({
        provider: models[1].provider,
        tools: [agentTool({ name: "inner", description: "Looks", agent: inner })],
        hooks: [costs, sees, gate]
      })
    }
    await using agent = make()
    const first = await agent.run("go")
    if (first.status !== "suspended") return assert.fail(first.status)
    assert.deepStrictEqual(first.snapshot.hookState, { total_cost: 4, calls: [0, 2] })
    await using other = make()
    const [ask] = first.pending
    const decisions = { [ask!.callId]: { type: "approve" } } as const
    const second = await other.resume(JSON.stringify(first.snapshot), decisions)
    assert.strictEqual(second.status, "completed")
    // Two more answers: of the sub-agent, and of the agent.
    assert.deepStrictEqual(costsSeen.at(-1), 8)
  })

  it("is the same value as that of a key with this name, which has its type", () => {
    const state = HookState.make()
    const total = HookState.key("total", 0)
    assert.isUndefined(state.get("total"))
    assert.strictEqual(state.update("total", (value) => Number(value ?? 1) + 1), 2)
    assert.strictEqual(state.get(total), 2)
    state.set("total", "text")
    assert.throws(() => state.get(total), /holds a value of another type/)
    assert.deepStrictEqual(state.snapshot(), { total: "text" })
  })

  it("refuses what is not JSON, the key of another hook, and what cannot be a key, in plain words", () => {
    const state = HookState.make()
    const refuses = (run: () => unknown, message: RegExp) => assert.throws(run, message)
    refuses(() => state.set("a", undefined as never), /state a: undefined is not a value/)
    refuses(() => state.set("a", new Date() as never), /state a: not JSON, \$ is a Date/)
    refuses(() => state.set("@other/a", 1), /only other may write it/)
    for (const wrong of [undefined, null, 5, {}, []]) {
      refuses(() => state.get(wrong as never), /expected a key of HookState.key, or a name, found/)
    }
    refuses(() => state.get(HookState.ownKey("mine", 0) as never), /call it with the name of a hook/)
  })

  it("is taken back for a gate that is asked again", async () => {
    const gate: AgentHook = {
      name: "gate",
      reinvoke: "ifChanged",
      preToolCall: (_call, { state }) => void state.update("seen", (n) => Number(n ?? 0) + 1)
    }
    const rename: AgentHook = {
      name: "rename",
      preToolCall: (call) => HookAction.transform({ ...call, args: { changed: true } })
    }
    await using agent = createAgent({
      provider: scripted([asks(["look"]), "done"]).provider,
      tools: [recording("look").tool],
      hooks: [gate, rename]
    })
    await using session = await agent.session()
    await session.run("go")
    assert.strictEqual(session.state.get("seen"), 1)
  })
})
