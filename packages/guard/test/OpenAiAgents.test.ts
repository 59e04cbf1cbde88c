/** The guard inside the OpenAI Agents SDK, with the real package. */
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as SessionStore from "@belay/core/SessionStore"
import { assert, describe, it } from "@effect/vitest"
import { Agent, run, RunState, setTracingDisabled, shellTool, tool } from "@openai/agents"
import * as z from "zod"
import * as Guard from "../src/Guard.ts"
import * as OpenAiAgents from "../src/OpenAiAgents.ts"
import { calls, kit, says, ScriptedModel } from "./support/openAiAgents.ts"

setTracingDisabled(true)

describe("the guard in the OpenAI Agents SDK", () => {
  it("denies a call: the tool does not run, and the model reads the reason", async () => {
    const { agent, ran } = kit([defineHook({
      name: "no-mail",
      preToolCall: ({ name }) => name === "send_mail" ? HookAction.reject("no mail leaves this house") : undefined
    })])
    const model = new ScriptedModel(calls(["send_mail", { to: "eve" }], ["read_page", { url: "a" }]), says("sorry"))
    const { finalOutput } = await run(agent(model), "go")
    assert.strictEqual(finalOutput, "sorry")
    assert.deepStrictEqual(ran, ["a"])
    assert.include(model.lastInput, "no mail leaves this house")
  })

  it("changes arguments, results and messages, answers in place of tools, and adds injected texts", async () => {
    const { agent, ran } = kit([defineHook({
      name: "changes",
      preTurn: ({ message }) => HookAction.transform({ message: message.replace("4711", "[pin]") }),
      preToolCall: (call, ctx) => {
        if (call.name === "read_page") return undefined
        ctx.inject("be careful with mails")
        return call.id === "cached"
          ? HookAction.respond("from the cache")
          : HookAction.transform({ ...call, args: { to: "ann" } })
      },
      postToolCall: ({ call, result }) =>
        result.ok && call.name === "read_page" ? HookAction.transform({ ok: true, output: "[withheld]" }) : undefined
    })])
    const model = new ScriptedModel(
      calls(["send_mail", { to: "eve" }], ["send_mail", { to: "bob" }, "cached"], ["read_page", { url: "a" }])
    )
    await run(agent(model), "my pin is 4711")
    assert.sameMembers(ran, ["ann", "a"])
    for (const text of ["[withheld]", "from the cache", "be careful with mails", "my pin is [pin]"]) {
      assert.include(model.lastInput, text)
    }
    assert.notInclude(model.lastInput, "4711")
  })

  it("refuses messages, ends turns, sends answers back, goes on, and reveals for the user only", async () => {
    const { agent } = kit([defineHook({
      name: "editor",
      preTurn: ({ message }) => {
        if (message === "bad") return HookAction.reject("not here")
        return message === "stop" ? HookAction.abort("closed for today") : undefined
      },
      postLlmCall: ({ response: { text } }) =>
        text === "rude" ? HookAction.reject("rude", { feedback: "be polite" }) : undefined,
      preStop: ({ text }, ctx) => {
        if (text === "half") ctx.followUp("and the rest?")
      },
      revealText: (text) => text.replace("NAME_1", "Ann")
    })])
    const model = new ScriptedModel(says("rude"), says("half"), says("dear NAME_1"))
    const guarded = agent(model)
    const refused: unknown = await run(guarded, "bad").then(() => undefined, (error: unknown) => error)
    assert.deepInclude(refused, { name: "GuardError", by: "editor", reason: "not here" })
    assert.strictEqual((await run(guarded, "stop")).finalOutput, "closed for today")
    assert.lengthOf(model.requests, 0)
    const written = await run(guarded, "write")
    assert.strictEqual(written.finalOutput, "dear Ann")
    assert.lengthOf(model.requests, 3)
    await run(guarded, [...written.history, { role: "user", content: "thanks" }])
    assert.include(model.lastInput, "dear NAME_1")
    assert.notInclude(model.lastInput, "Ann")
  })

  it("hands what no hook changes to the model as it came", async () => {
    const { agent } = kit([defineHook({ name: "sees", preLlmCall: () => {} })])
    const model = new ScriptedModel()
    const input = [
      {
        role: "user" as const,
        content: [{ type: "input_text" as const, text: "look" }, {
          type: "input_image" as const,
          image: "https://example.com/a.png"
        }]
      }
    ]
    await run(agent(model), input)
    assert.deepStrictEqual(model.requests[0]!.input, input)
  })

  it("does not take instructions between the messages for messages of the user", async () => {
    const seen: Array<unknown> = []
    const { agent } = kit([defineHook({
      name: "sees",
      preTurn: ({ message }) => void seen.push(message),
      preLlmCall: ({ instructions, messages }) =>
        void seen.push([messages.map(({ role }) => role), instructions?.includes("be brief")])
    })])
    const message = (role: "user" | "system", content: string) => ({ role, content })
    await run(agent(new ScriptedModel()), [
      message("user", "hi"),
      { role: "assistant", status: "completed", content: [{ type: "output_text", text: "hello" }] },
      message("system", "be brief"),
      message("user", "go")
    ])
    assert.deepStrictEqual(seen, ["hi", "hello", "go", [["user", "assistant", "user"], true]])
  })

  it("streams text at once if no hook can still change it, with the changes of the hooks", async () => {
    const { agent } = kit([defineHook({
      name: "masks",
      onLlmDelta: (delta) =>
        delta.type === "text"
          ? HookAction.transform({ type: "text", text: delta.text.replace("4711", "****") })
          : undefined
    })])
    const result = await run(agent(new ScriptedModel(says("the pin is 4711 now"))), "go", { stream: true })
    const pieces: Array<string> = []
    for await (const piece of result.toTextStream()) pieces.push(String(piece))
    assert.strictEqual(pieces.join(""), "the pin is **** now")
    assert.isAbove(pieces.length, 2)
  })

  it("shows nothing of a streamed answer that a hook sends back", async () => {
    const { agent } = kit([defineHook({
      name: "editor",
      postLlmCall: ({ response: { text } }) =>
        text.includes("rude") ? HookAction.reject("rude", { feedback: "be polite" }) : undefined
    })])
    const model = new ScriptedModel(says("you rude one"), says("dear friend"))
    const result = await run(agent(model), "go", { stream: true })
    const pieces: Array<string> = []
    for await (const piece of result.toTextStream()) pieces.push(String(piece))
    assert.strictEqual(pieces.join(""), "dear friend")
    assert.strictEqual(result.finalOutput, "dear friend")
  })
})

describe("a question of the guard in the OpenAI Agents SDK", () => {
  const asks = defineHook({
    name: "asks",
    preToolCall: ({ name }) => name === "send_mail" ? HookAction.ask("really?") : undefined
  })
  const script = () => new ScriptedModel(calls(["send_mail", { to: "ann" }, "m1"]), says("the end"))

  it("is its interruption; an approved call runs once", async () => {
    const { agent, ran } = kit([asks], { approvedBy: "ann" })
    const guarded = agent(script())
    const first = await run(guarded, "go")
    assert.lengthOf(first.interruptions, 1)
    assert.deepStrictEqual(ran, [])
    first.state.approve(first.interruptions[0]!)
    assert.strictEqual((await run(guarded, first.state)).finalOutput, "the end")
    assert.deepStrictEqual(ran, ["ann"])
  })

  it("that is refused does not run the call, and the guard knows", async () => {
    const { agent, guarded: { session }, ran } = kit([asks])
    const guarded = agent(script())
    const first = await run(guarded, "go")
    first.state.reject(first.interruptions[0]!)
    await run(guarded, first.state)
    assert.deepStrictEqual(ran, [])
    assert.deepStrictEqual(await session.pending(), [])
  })

  it("is answered after a restart, with a store", async () => {
    const store = SessionStore.inMemory()
    const before = kit([asks], { id: "s" }, { store })
    const first = await run(before.agent(script()), "go")
    const text = first.state.toString()
    const after = kit([asks], { id: "s" }, { store })
    const agent = after.agent(new ScriptedModel(says("the end")))
    const state = await RunState.fromString(agent, text)
    state.approve(state.getInterruptions()[0]!)
    assert.strictEqual((await run(agent, state)).finalOutput, "the end")
    assert.deepStrictEqual(after.ran, ["ann"])
  })

  it("that nobody was asked here does not run the call", async () => {
    const before = kit([asks])
    const first = await run(before.agent(script()), "go")
    const after = kit([asks])
    const model = new ScriptedModel(says("the end"))
    const agent = after.agent(model)
    const state = await RunState.fromString(agent, first.state.toString())
    state.approve(state.getInterruptions()[0]!)
    await run(agent, state)
    assert.deepStrictEqual(after.ran, [])
    assert.include(model.lastInput, "not run")
  })

  it("that needs two people is not met by one approval", async () => {
    const two = defineHook({ name: "two", preToolCall: () => HookAction.ask("both?", undefined, { quorum: 2 }) })
    const { agent, ran } = kit([two], { approvedBy: "ann" })
    const model = script()
    const guarded = agent(model)
    const first = await run(guarded, "go")
    first.state.approve(first.interruptions[0]!)
    await run(guarded, first.state)
    assert.deepStrictEqual(ran, [])
    assert.include(model.lastInput, "more people have to approve")
  })
})

describe("several agents of the OpenAI Agents SDK", () => {
  it("to which the conversation is handed over are guarded too, with one state", async () => {
    let count = 0
    const { guarded, ran, tools } = kit([defineHook({
      name: "two-calls",
      preToolCall: () => ++count > 2 ? HookAction.reject("no more calls") : undefined
    })])
    const second = new ScriptedModel(
      calls(["read_page", { url: "x" }]),
      calls(["read_page", { url: "y" }]),
      says("bye")
    )
    const helper = new Agent({ name: "helper", model: second, tools })
    const first = new ScriptedModel(calls(["read_page", { url: "a" }]), calls(["transfer_to_helper", {}]))
    const lead = guarded.agent(new Agent({ name: "lead", model: first, tools, handoffs: [helper] }))
    assert.strictEqual((await run(lead, "go")).finalOutput, "bye")
    assert.deepStrictEqual(ran, ["a", "x"])
    assert.include(second.lastInput, "no more calls")
  })

  it("are not handed a conversation that a hook keeps", async () => {
    const { guarded, tools } = kit([defineHook({
      name: "keeps",
      kind: "policy",
      preDelegation: ({ agent }) => agent === "helper" ? HookAction.reject("helper is on leave") : undefined
    })])
    const second = new ScriptedModel()
    const helper = new Agent({ name: "helper", model: second, tools })
    const first = new ScriptedModel(calls(["transfer_to_helper", {}]), says("I do it myself"))
    const lead = guarded.agent(new Agent({ name: "lead", model: first, tools, handoffs: [helper] }))
    assert.strictEqual((await run(lead, "go")).finalOutput, "I do it myself")
    assert.include(first.lastInput, "helper is on leave")
    assert.lengthOf(second.requests, 0)
  })

  it("that are tools share limits and questions with the agent that calls them", async () => {
    let count = 0
    const limit = defineHook({
      name: "two-reads",
      preToolCall: ({ name }) => name === "read_page" && ++count > 2 ? HookAction.reject("no more calls") : undefined
    })
    const { guard, guarded, ran, tools } = kit([limit], { agent: "lead" })
    const inner = OpenAiAgents.make(guard, { agent: "helper", parent: guarded.session })
    const second = new ScriptedModel(calls(["read_page", { url: "x" }]), says("read"))
    const helper = inner.agent(new Agent({ name: "helper", model: second, tools }))
    const first = new ScriptedModel(
      calls(["read_page", { url: "a" }]),
      calls(["ask_helper", { input: "read x" }]),
      calls(["read_page", { url: "b" }])
    )
    const ask = helper.asTool({ toolName: "ask_helper", toolDescription: "Asks the helper" })
    await run(guarded.agent(new Agent({ name: "lead", model: first, tools: [...tools, ask] })), "go")
    assert.deepStrictEqual(ran, ["a", "x"])
    assert.include(first.lastInput, "no more calls")
  })
})

describe("what the guard cannot see in the OpenAI Agents SDK", () => {
  it("does not run: tools of an agent whose model is a name, without the guarded runner", async () => {
    const { guarded, ran, tools } = kit([])
    const model = new ScriptedModel(calls(["read_page", { url: "a" }]))
    const agent = guarded.agent(new Agent({ name: "lead", model: "named", tools }))
    const modelProvider = { getModel: () => model }
    const { Runner } = await import("@openai/agents")
    await new Runner({ modelProvider }).run(agent, "go")
    assert.deepStrictEqual(ran, [])
    assert.include(model.lastInput, "Run the agent with guarded.runner()")
    const again = new ScriptedModel(calls(["read_page", { url: "a" }]))
    await guarded.runner({ modelProvider: { getModel: () => again } }).run(agent, "go")
    assert.deepStrictEqual(ran, ["a"])
  })

  it("is refused by name: tools that the SDK runs itself, and hooks at points that do not exist", () => {
    const shell = shellTool({ shell: { run: () => Promise.reject(new Error("never")) } })
    const { guarded } = kit([])
    assert.throws(() => guarded.agent(new Agent({ name: "a", tools: [shell] })), /cannot stop a tool of type shell/)
    const hooks = [defineHook({ name: "keeper", kind: "policy", onLlmError: () => HookAction.abort("no") })]
    assert.throws(
      () => OpenAiAgents.make(Guard.make({ hooks, log: false })),
      /openai-agents cannot enforce keeper at onLlmError/
    )
    assert.throws(() => guarded.agent({} as never), /expected an Agent/)
  })

  it("is nothing of a copy: a clone of a guarded agent is guarded", async () => {
    const { agent, ran } = kit([defineHook({ name: "none", preToolCall: () => HookAction.reject("no tools") })])
    const extra = tool({
      name: "extra",
      description: "",
      parameters: z.object({}),
      execute: () => void ran.push("extra")
    })
    const model = new ScriptedModel(calls(["extra", {}], ["read_page", { url: "a" }]))
    const one = agent(new ScriptedModel())
    await run(one.clone({ model, tools: [...one.tools, extra] }), "go")
    assert.deepStrictEqual(ran, [])
    assert.include(model.lastInput, "no tools")
  })
})
