/** A turn that stops after another agent took the conversation over, and continues from its snapshot. */
import { assert, describe, it } from "@effect/vitest"
import type { AgentConfig } from "../../../src/agent/AgentConfig.ts"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { textResponse } from "../../../src/data/LlmCall.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { assertValid, recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

/** A lead that hands over and, in the same step, pays: itself, or by an agent in the background. A payment asks. */
const desk = (second: "pay" | "work", stays: boolean, more: Partial<AgentConfig> = {}) => {
  const pay = recording("pay", () => "paid")
  const specialist = scripted([], { after: ({ messages }) => textResponse(`specialist ${messages.length}`) })
  const lead = scripted([
    asks(["over", { message: "about money" }, "o"], second === "pay" ? ["pay", {}, "p"] : ["work", { message: "go" }]),
    "lead again"
  ])
  const worker = createAgent({
    name: "worker",
    tools: [pay.tool],
    provider: scripted([], {
      after: ({ messages }) => messages.at(-1)?.role === "tool" ? textResponse("worker done") : asks(["pay", {}, "p"])
    }).provider
  })
  const agent = createAgent({
    name: "lead",
    provider: lead.provider,
    tools: [
      pay.tool,
      agentTool({ name: "work", description: "Works", agent: worker, background: true }),
      agentTool({
        name: "over",
        description: "Takes over",
        agent: createAgent({ name: "specialist", provider: specialist.provider }),
        type: "transfer",
        stays
      })
    ],
    hooks: [{ name: "ask", tools: "pay", preToolCall: () => HookAction.ask("pay?") }],
    ...more
  })
  return { agent, lead, pay }
}

describe("a transfer in a step that waits for a person", () => {
  for (const stays of [false, true]) {
    for (const second of ["pay", "work"] as const) {
      const who = second === "pay" ? "another call" : "an agent in the background"
      it(`answers the turn when ${who} is approved elsewhere${stays ? ", and stays" : ""}`, async () => {
        const first = desk(second, stays)
        const suspended = await first.agent.run("hello")
        assert.strictEqual(suspended.status, "suspended")
        if (suspended.status !== "suspended") return
        const other = desk(second, stays)
        const result = await other.agent.resume(JSON.stringify(suspended.snapshot), {
          [suspended.pending[0]!.callId]: { type: "approve" }
        })
        assert.strictEqual(result.status, "completed")
        assert.match(result.text, /^specialist/)
        // The model of the lead agent is not asked again.
        assert.lengthOf(other.lead.requests, 0)
        assert.lengthOf([...first.pay.ran, ...other.pay.ran], 1)
        assertValid(result.messages)
        assert.deepInclude(result.messages.at(-1), { role: "assistant", content: result.text })
        await first.agent.close()
        await other.agent.close()
      })
    }
  }
})
