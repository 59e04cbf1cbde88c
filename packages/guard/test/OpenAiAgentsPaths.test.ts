/** Less common ways through the OpenAI Agents SDK. */
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { assert, describe, it } from "@effect/vitest"
import { Agent, setTracingDisabled } from "@openai/agents"
import { GuardError } from "../src/GuardError.ts"
import { calls, kit, says, ScriptedModel } from "./support/openAiAgents.ts"

setTracingDisabled(true)

describe("the guard in the OpenAI Agents SDK", () => {
  const noPin = defineHook({
    name: "no-pin",
    kind: "policy",
    postTurn: ({ output }) => output.text.includes("4711") ? HookAction.reject("no pin") : undefined
  })

  for (const toolUseBehavior of ["stop_on_first_tool", { stopAtToolNames: ["read_page"] }] as const) {
    it(`asks about a result that is the answer: ${JSON.stringify(toolUseBehavior)}`, async () => {
      const { guarded, tools } = kit([noPin])
      const model = new ScriptedModel(calls(["read_page", { url: "a" }]))
      const behavior = typeof toolUseBehavior === "string" ? toolUseBehavior : { stopAtToolNames: ["read_page"] }
      const agent = guarded.agent(new Agent({ name: "lead", model, tools, toolUseBehavior: behavior }))
      const error: unknown = await guarded.runner().run(agent, "go").catch((error: unknown) => error)
      assert.instanceOf(error, GuardError)
    })
  }

  it("guards agents that are added to the handoffs later", async () => {
    const denies = defineHook({ name: "denies", tools: "send_mail", preToolCall: () => HookAction.reject("no mail") })
    for (const assigned of [false, true]) {
      const { guarded, ran, tools } = kit([denies])
      const model = new ScriptedModel(calls(["send_mail", { to: "eve" }]), says("sorry"))
      const next = new Agent({ name: "next", model, tools })
      const lead = guarded.agent(new Agent({ name: "lead", model: new ScriptedModel(calls(["transfer_to_next", {}])) }))
      if (assigned) lead.handoffs = [next]
      else lead.handoffs.push(next)
      await guarded.runner().run(lead, "go")
      assert.deepStrictEqual(ran, [])
      assert.include(model.lastInput, "no mail")
    }
  })

  it("shows hooks the instructions between the messages, and writes what they change", async () => {
    const hides = defineHook({
      name: "hides",
      preLlmCall: (request) =>
        HookAction.transform({ ...request, instructions: request.instructions?.replaceAll("4711", "[pin]") ?? "" })
    })
    const { agent, guarded } = kit([hides])
    const model = new ScriptedModel(says("done"))
    await guarded.runner().run(agent(model), [{ role: "system", content: "the pin is 4711" }, {
      role: "user",
      content: "go"
    }])
    assert.notInclude(model.lastInput, "4711")
    assert.strictEqual(model.requests[0]?.systemInstructions, "the pin is [pin]")
  })
})
