/** How the answer of a model joins the conversation. */
import { assert, describe, it } from "@effect/vitest"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

describe("the answer of a model", () => {
  it("joins the conversation with its reasoning and its metadata, with tool calls and without", async () => {
    const more = { reasoning: "look first", metadata: { vendor: { signature: "s" } } }
    const model = scripted([{ ...asks(["act", {}, "a"]), text: "I look.", ...more }, { text: "done", ...more }])
    await using agent = createAgent({ provider: model.provider, tools: [recording("act").tool] })
    const { messages } = await agent.run("go")
    assert.deepStrictEqual(messages.filter(({ role }) => role === "assistant"), [
      { role: "assistant", content: "I look.", toolCalls: [{ id: "a", name: "act", args: {} }], ...more },
      { role: "assistant", content: "done", ...more }
    ])
    assert.deepStrictEqual(model.requests[1]!.messages[1], messages[1])
  })
})
