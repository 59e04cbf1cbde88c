/** Data flow in a tree of agents that work in the background. */
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as DataFlow from "@belay/hooks/DataFlow"
import { Scripted } from "@belay/testing"
import { assert, describe, it } from "@effect/vitest"

const url = "https://example.com/news"

const page = defineTool({
  name: "read_page",
  description: "Reads a page",
  input: { type: "object", properties: { url: { type: "string" } } },
  readOnly: true,
  execute: () => "All is well."
})

describe("data flow beside an agent in the background", () => {
  it("asks nobody about the ids that the runtime made, after the tree has read something", async () => {
    const asked: Array<string> = []
    const helper = createAgent({
      name: "helper",
      provider: Scripted.make([Scripted.toolCalls({ name: "read_page", args: { url } }), "All is well."]),
      tools: [page],
      log: false
    })
    await using lead = createAgent({
      provider: Scripted.make([
        Scripted.toolCalls({ name: "research", args: { message: `Read ${url}` } }),
        Scripted.toolCalls({ name: "await_agent", args: { id: "agent_1" } }),
        "It says that all is well."
      ]),
      tools: [agentTool({ name: "research", description: "Looks something up", agent: helper, background: true })],
      hooks: [DataFlow.make()],
      onAsk: ({ reason }) => {
        asked.push(reason)
        return { type: "deny", reason: "no" }
      },
      log: false
    })
    const result = await lead.run(`What does ${url} say?`)
    assert.deepStrictEqual([asked, result.status], [[], "completed"])
  })
})
