/** Less common ways through LangChain. */
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as SessionStore from "@belay/core/SessionStore"
import { assert, describe, it } from "@effect/vitest"
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages"
import { Command, interrupt, MemorySaver } from "@langchain/langgraph"
import { tool } from "langchain"
import * as z from "zod"
import * as Guard from "../src/Guard.ts"
import * as LangChain from "../src/LangChain.ts"
import { calls, kit, lastInput, says, scripted, thread, user } from "./support/langChain.ts"

describe("the guard in LangChain", () => {
  it("asks about a result that is the answer", async () => {
    const noPin = defineHook({
      name: "no-pin",
      kind: "policy",
      postTurn: ({ output }) => output.text.includes("4711") ? HookAction.reject("no pin") : undefined
    })
    const { guarded } = kit([noPin])
    const pin = tool(() => "4711", { name: "pin", schema: z.object({}), returnDirect: true })
    const agent = guarded.createAgent({ model: scripted(calls(["pin", {}])), tools: [pin] })
    const said: unknown = await agent.invoke(user("go")).catch((error: unknown) => error)
    assert.instanceOf(said, Error)
  })

  it("shows hooks all instructions, and writes what they change", async () => {
    const hides = defineHook({
      name: "hides",
      preLlmCall: (request) =>
        HookAction.transform({ ...request, instructions: request.instructions?.replaceAll("4711", "[pin]") ?? "" })
    })
    const { agent } = kit([hides])
    const model = scripted(says("done"))
    await agent(model).invoke({ messages: [new SystemMessage("the pin is 4711"), new HumanMessage("go")] }, thread)
    assert.notInclude(lastInput(model), "4711")
    assert.include(lastInput(model), "[pin]")
  })

  it("shows hooks the tools with their schemas", async () => {
    const seen: Array<readonly [string, unknown]> = []
    const { agent } = kit([defineHook({
      name: "sees",
      preLlmCall: ({ tools }) => void seen.push(...tools.map(({ inputSchema, name }) => [name, inputSchema] as const))
    })])
    await agent(scripted(says("done"))).invoke(user("go"), thread)
    assert.deepStrictEqual(seen.map(([name, schema]) => [name, Object.keys(Object(Object(schema).properties))]), [
      ["send_mail", ["to"]],
      ["read_page", ["url"]]
    ])
  })

  it("checks results of the history that a message of the user follows", async () => {
    const cuts = defineHook({ name: "cuts", postToolCall: () => HookAction.transform({ ok: true, output: "[cut]" }) })
    const { agent } = kit([cuts])
    const model = scripted(says("done"))
    const result = new ToolMessage({ content: "pin 4711", tool_call_id: "r", name: "read_page" })
    const messages = [new HumanMessage("go"), calls(["read_page", { url: "a" }, "r"]), result, new HumanMessage("and?")]
    await agent(model).invoke({ messages }, thread)
    assert.notInclude(lastInput(model), "4711")
  })

  it("keeps the thoughts of an answer that hooks change", async () => {
    const signs = defineHook({
      name: "signs",
      postLlmCall: ({ response }) => HookAction.transform({ ...response, text: `${response.text}!` })
    })
    const { agent } = kit([signs])
    const thought = { type: "thinking", thinking: "hm", signature: "signed" }
    const model = scripted(new AIMessage({ content: [thought, { type: "text", text: "hi" }] }))
    const { messages } = await agent(model).invoke(user("go"), thread)
    assert.deepStrictEqual(messages.at(-1)?.content, [thought, { type: "text", text: "hi!" }])
  })

  it("refuses tools that are wrapped already", () => {
    const { guarded, tools } = kit([])
    const wrapped = guarded.tools([...tools])
    assert.throws(() => guarded.createAgent({ model: scripted(), tools: wrapped }), /it is guarded already/)
  })

  it("runs an approved call whose tool asks something itself, with the answer to that", async () => {
    const { guarded } = kit([defineHook({ name: "asks", preToolCall: () => HookAction.ask("really?") })])
    const ran: Array<unknown> = []
    const mail = tool(({ to }) => {
      ran.push([to, interrupt("which address?")])
      return "sent"
    }, { name: "send_mail", description: "Sends a mail", schema: z.object({ to: z.string() }) })
    const model = scripted(calls(["send_mail", { to: "ann" }]))
    const agent = guarded.createAgent({ model, tools: [mail], checkpointer: new MemorySaver() })
    await agent.invoke(user("go"), thread)
    const resume = { decisions: [{ type: "approve" }] }
    const { __interrupt__: open = [] } = await agent.invoke(new Command({ resume }), thread)
    assert.deepStrictEqual(open.map(({ value }) => value as unknown), ["which address?"])
    await agent.invoke(new Command({ resume: "ann@example.com" }), thread)
    assert.deepStrictEqual(ran, [["ann", "ann@example.com"]])
    assert.include(lastInput(model), "sent")
  })

  it("decides once about a call whose tool asks something itself, also in another process", async () => {
    const store = SessionStore.inMemory()
    const checkpointer = new MemorySaver()
    const seen: Array<string> = []
    const ran: Array<unknown> = []
    const notes = defineHook({
      name: "notes",
      preToolCall: () => {
        seen.push("call")
        return HookAction.ask("really?")
      },
      postToolCall: () => void seen.push("result")
    })
    const mail = tool(({ to }) => {
      ran.push([to, interrupt("which address?")])
      return "sent"
    }, { name: "send_mail", description: "Sends a mail", schema: z.object({ to: z.string() }) })
    const process = () => {
      const guarded = LangChain.make(Guard.make({ hooks: [notes], log: false, store }), { id: "s" })
      const model = scripted(...seen.length === 0 ? [calls(["send_mail", { to: "ann" }, "1"])] : [])
      return guarded.createAgent({ model, tools: [mail], checkpointer })
    }
    await process().invoke(user("go"), thread)
    await process().invoke(new Command({ resume: { decisions: [{ type: "approve" }] } }), thread)
    await process().invoke(new Command({ resume: "ann@example.com" }), thread)
    assert.deepStrictEqual(ran, [["ann", "ann@example.com"]])
    assert.deepStrictEqual(seen, ["call", "result"])
  })
})
