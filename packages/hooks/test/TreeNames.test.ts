/** Hooks that the lead agent and its sub-agents bring under the same name. */
import type { AgentHook } from "@belay/core/AgentHook"
import { agentTool } from "@belay/core/agentTool"
import { type Agent, createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import type { LlmRequest } from "@belay/core/LlmCall"
import * as CostTracker from "@belay/hooks/CostTracker"
import * as ModelCallLimit from "@belay/hooks/ModelCallLimit"
import * as ToolCallLimit from "@belay/hooks/ToolCallLimit"
import * as UsageReport from "@belay/hooks/UsageReport"
import { assert, describe, it } from "@effect/vitest"
import { type Call, model, prices } from "./support/tree.ts"

const look = defineTool({ name: "t", description: "t", input: { type: "object" }, execute: () => "ok" })

const four: ReadonlyArray<Call> = [0, 1, 2, 3].map((n) => ["t", { n }])

describe("ModelCallLimit", () => {
  it("lets no call of parallel sub-agents pass between its check and its count", async () => {
    const requests: Array<LlmRequest> = []
    const worker = (name: string) =>
      createAgent({ name, provider: model(requests, four.map((call) => [call])), tools: [look] })
    const names = ["one", "two", "three"]
    const slow: AgentHook = {
      name: "slow",
      kind: "observer",
      preLlmCall: () => new Promise((resolve) => setImmediate(resolve))
    }
    await using lead = createAgent({
      name: "lead",
      provider: model(requests, [names.map((name): Call => [name, { message: "work" }])]),
      tools: names.map((name) => agentTool({ name, description: "works", agent: worker(name) })),
      hooks: [ModelCallLimit.make({ perTurn: 5 }), slow]
    })
    const error = await lead.run("go").then(() => assert.fail("expected a rejection"), (cause: Error) => cause)
    assert.match(error.message, /model call limit of 5 per turn reached/)
    assert.strictEqual(requests.length, 5)
  })
})

describe("a hook of the lead and one of a sub-agent with the same name", () => {
  const worker = (name: string, hooks: ReadonlyArray<AgentHook>, ran: Array<string>) =>
    createAgent({
      name,
      provider: model([], four.map((call) => [call])),
      tools: [defineTool({
        name: "t",
        description: "t",
        input: { type: "object" },
        execute: () => {
          ran.push(name)
          return "ok"
        }
      })],
      hooks
    })
  const leadOf = (agents: ReadonlyArray<Agent>, hooks: ReadonlyArray<AgentHook>) =>
    createAgent({
      name: "lead",
      provider: model([], [agents.map((_, index): Call => [`ask_${index}`, { message: "work" }])]),
      tools: agents.map((agent, index) => agentTool({ name: `ask_${index}`, description: "works", agent })),
      hooks
    })

  it("count separately, so that no call counts twice", async () => {
    const ran: Array<string> = []
    const limit = (perSession: number) => ToolCallLimit.make({ tools: "t", perSession })
    const worked = worker("one", [limit(3), CostTracker.make(prices), UsageReport.make()], ran)
    await using lead = leadOf([worked, worked], [limit(5), CostTracker.make(prices), UsageReport.make()])
    await using session = await lead.session()
    await session.run("go")
    // The sub-agent's own limit counts its calls in both delegations.
    assert.strictEqual(ran.length, 3)
    // Five calls of each sub-agent's model and two of the lead's.
    assert.closeTo(CostTracker.total(session.state).usd, 12 * 0.2, 1e-9)
    assert.strictEqual(UsageReport.read(session.state).tools.find(({ name }) => name === "t")?.calls, 3)
    // With the same options, the hook of the sub-agent is that of the lead.
    assert.deepStrictEqual(UsageReport.read(session.state, "usage-report@one").tools, [])
  })

  it("are one limit if two sub-agents bring it and the lead does not", async () => {
    const ran: Array<string> = []
    const limit = () => ToolCallLimit.make({ tools: "t", perSession: 3 })
    await using lead = leadOf([worker("one", [limit()], ran), worker("two", [limit()], ran)], [])
    await lead.run("go")
    assert.strictEqual(ran.length, 3)
  })
})
