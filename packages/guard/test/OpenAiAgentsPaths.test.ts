/** Less common ways through the OpenAI Agents SDK. */
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as SessionStore from "@belay/core/SessionStore"
import { assert, describe, it } from "@effect/vitest"
import { Agent, RunState, setTracingDisabled, tool } from "@openai/agents"
import * as z from "zod"
import * as Guard from "../src/Guard.ts"
import { GuardError } from "../src/GuardError.ts"
import * as OpenAiAgents from "../src/OpenAiAgents.ts"
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

describe("a call that waits for a person when the process ends", () => {
  const mailOf = (ran: Array<string>, needsApproval: boolean) =>
    tool({
      name: "send_mail",
      description: "Sends a mail",
      parameters: z.object({ to: z.string() }),
      needsApproval,
      execute: ({ to }) => ran.push(to)
    })

  it.each([undefined, SessionStore.inMemory()])(
    "runs in the next one, if its tool asks and no hook does",
    async (store) => {
      const make = () =>
        OpenAiAgents.make(Guard.make({ ...store === undefined ? {} : { store }, log: false }), { id: "s" })
      const guarded = make()
      const ran: Array<string> = []
      const tools = [mailOf(ran, true)]
      const lead = guarded.agent(
        new Agent({ name: "lead", model: new ScriptedModel(calls(["send_mail", { to: "ann" }])), tools })
      )
      const text = (await guarded.runner().run(lead, "go")).state.toString()
      const next = make()
      const again = next.agent(new Agent({ name: "lead", model: new ScriptedModel(), tools }))
      const state = await RunState.fromString(again, text)
      state.approve(state.getInterruptions()[0]!)
      await next.runner().run(again, state)
      assert.deepStrictEqual(ran, ["ann"])
    }
  )

  it("runs in the next one, if an agent behind a tool makes it and a hook asks about both", async () => {
    const store = SessionStore.inMemory()
    const ran: Array<string> = []
    const seen: Array<string> = []
    const asks = defineHook({
      name: "asks",
      preToolCall: ({ name }) => {
        seen.push(name)
        return HookAction.ask("really?")
      },
      postToolCall: ({ call }) => void seen.push(`${call.name} is done`)
    })
    const agents = (first: ScriptedModel, second: ScriptedModel) => {
      const guard = Guard.make({ hooks: [asks], store, log: false })
      const lead = OpenAiAgents.make(guard, { id: "lead", agent: "lead" })
      const helper = OpenAiAgents.make(guard, { id: "helper", agent: "helper", parent: lead.session })
      const own = helper.agent(new Agent({ name: "helper", model: second, tools: [mailOf(ran, false)] }))
      const ask = own.asTool({ toolName: "ask_helper", toolDescription: "Asks the helper" })
      return { agent: lead.agent(new Agent({ name: "lead", model: first, tools: [ask] })), runner: lead.runner() }
    }
    const before = agents(
      new ScriptedModel(calls(["ask_helper", { input: "write to ann" }])),
      new ScriptedModel(calls(["send_mail", { to: "ann" }]))
    )
    const { state: asked } = await before.runner.run(before.agent, "go")
    asked.approve(asked.getInterruptions()[0]!)
    const text = (await before.runner.run(before.agent, asked)).state.toString()
    const after = agents(new ScriptedModel(says("the end")), new ScriptedModel(says("sent")))
    const state = await RunState.fromString(after.agent, text)
    state.approve(state.getInterruptions()[0]!)
    assert.strictEqual((await after.runner.run(after.agent, state)).finalOutput, "the end")
    assert.deepStrictEqual(ran, ["ann"])
    assert.deepStrictEqual(seen, ["ask_helper", "send_mail", "send_mail is done", "ask_helper is done"])
  })
})
