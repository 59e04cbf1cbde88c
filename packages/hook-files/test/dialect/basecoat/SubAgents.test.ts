import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { assert, describe, it } from "vitest"
import { calls, recording, scripted } from "../../../../../test/support/agent.ts"
import { bash, world } from "./support.ts"

describe("BaseCoat, agents that call others", () => {
  // rows: B-54
  it("sub-agents have the tool events of their own, and the session of the agent they work for", async () => {
    const helper = createAgent({
      name: "helper",
      provider: scripted([bash("inner")]).provider,
      tools: recording().tools
    })
    const { agent, hear, heard } = world([calls(["helper", { message: "help" }])], {}, {
      tools: [agentTool({ name: "helper", agent: helper, description: "helps" })]
    })
    hear("SessionStart")
    hear("PreToolUse")
    await using session = await agent.session({ id: "s" })
    await session.run("go")
    assert.deepEqual(
      heard.map(({ agent: who, hook, sessionId, tool }) => [hook, who, sessionId, tool?.name ?? ""]).slice(0, 3),
      [
        ["SessionStart", "agent", "s", ""],
        ["PreToolUse", "agent", "s", "helper"],
        ["PreToolUse", "helper", "s", "bash"]
      ]
    )
  })
})
