/** A hook that fails open is counted where people look: in the result, in events, in snapshots and by a limit. */
import { assert, describe, it } from "@effect/vitest"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { type Agent, createAgent } from "../../../src/agent/createAgent.ts"
import type { Limits } from "../../../src/agent/Limits.ts"
import type { AgentEvent } from "../../../src/data/AgentEvent.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

const broken: AgentHook = {
  name: "broken",
  tools: "look",
  preToolCall: () => {
    throw new Error("no")
  }
}

/** An agent whose sub-agent calls a tool three times, and the hook fails each time. */
const tree = (limits: Partial<Limits> = {}, hooks: ReadonlyArray<AgentHook> = [broken]): Agent => {
  const inner = createAgent({
    name: "inner",
    provider: scripted([asks(["look"]), asks(["look"]), asks(["look"]), "done"]).provider,
    tools: [recording("look").tool]
  })
  return createAgent({
    provider: scripted([asks(["inner", { message: "go" }]), "done"]).provider,
    tools: [agentTool({ name: "inner", description: "Works", agent: inner })],
    hooks,
    limits,
    log: false
  })
}

describe("a hook that fails open", () => {
  it("is counted in the result of the whole tree, and in the last event of each agent", async () => {
    const events: Array<AgentEvent> = []
    await using agent = tree()
    agent.on((event) => void events.push(event))
    const result = await agent.run("go")
    assert.deepStrictEqual([result.status, result.failOpens], ["completed", 3])
    const ends = events.flatMap((event) => event.type === "turn-end" ? [event.failOpens] : [])
    assert.deepStrictEqual(ends, [3, 3])
  })

  it("is not counted if it fails closed, or if no hook fails", async () => {
    await using closed = tree({}, [{ ...broken, failOpen: false }])
    assert.strictEqual((await closed.run("go")).failOpens, 0)
    await using fine = tree({}, [])
    assert.strictEqual((await fine.run("go")).failOpens, 0)
  })

  it("ends the turn if there are more than the limit allows, and a resume counts again", async () => {
    await using agent = tree({ failOpens: 1 })
    const first = await agent.run("go")
    if (first.status !== "limited") return assert.fail(first.status)
    assert.deepStrictEqual([first.limit, first.used, first.max, first.failOpens], ["failOpens", 2, 1, 2])
    const second = await agent.resume(JSON.stringify(first.snapshot))
    assert.deepStrictEqual([second.status, second.failOpens], ["completed", 3])
  })

  it("ends the turn at the first one with a limit of 0", async () => {
    await using agent = tree({ failOpens: 0 })
    const result = await agent.run("go")
    assert.deepStrictEqual([result.status, result.failOpens], ["limited", 1])
  })

  it("is named to observers of the point", async () => {
    const seen: Array<unknown> = []
    const observer: AgentHook = {
      name: "observer",
      kind: "observer",
      tools: "look",
      preToolCall: (_call, { outcome }) => void seen.push(outcome?.failedOpen)
    }
    await using agent = tree({}, [broken, observer])
    await agent.run("go")
    assert.deepStrictEqual(seen, [["broken"], ["broken"], ["broken"]])
  })

  it("is counted on after a suspension", async () => {
    let asked = 0
    const gate: AgentHook = {
      name: "gate",
      tools: "look",
      preToolCall: () => ++asked === 2 ? HookAction.ask("sure?") : undefined
    }
    await using agent = tree({}, [broken, gate])
    const first = await agent.run("go")
    if (first.status !== "suspended") return assert.fail(first.status)
    const [ask] = first.pending
    const second = await agent.resume(JSON.stringify(first.snapshot), { [ask!.callId]: { type: "approve" } })
    assert.strictEqual(second.status, "completed")
    assert.isAtLeast(second.failOpens, 3)
  })
})
