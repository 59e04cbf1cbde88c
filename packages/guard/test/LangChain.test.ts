/** The guard inside LangChain 1, with the real package. */
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as SessionStore from "@belay/core/SessionStore"
import { assert, describe, it } from "@effect/vitest"
import { Command } from "@langchain/langgraph"
import * as Effect from "effect/Effect"
import { createMiddleware, providerStrategy, tool, type ToolRuntime } from "langchain"
import * as z from "zod"
import * as Guard from "../src/Guard.ts"
import * as LangChain from "../src/LangChain.ts"
import { calls, kit, lastInput, says, scripted, thread, toolsOf, user } from "./support/langChain.ts"

const textOf = ({ messages }: { readonly messages: ReadonlyArray<{ readonly text: string }> }) => messages.at(-1)?.text

describe("the guard in LangChain", () => {
  it("denies a call: the tool does not run, its parallel call does, and the model reads the reason", async () => {
    const { agent, ran } = kit([defineHook({
      name: "no-mail",
      preToolCall: ({ name }) => name === "send_mail" ? HookAction.reject("no mail leaves this house") : undefined
    })])
    const model = scripted(calls(["send_mail", { to: "eve" }], ["read_page", { url: "a" }]), says("sorry"))
    assert.strictEqual(textOf(await agent(model).invoke(user("go"), thread)), "sorry")
    assert.deepStrictEqual(ran, ["a"])
    assert.include(lastInput(model), "no mail leaves this house")
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
    const model = scripted(
      calls(["send_mail", { to: "eve" }], ["send_mail", { to: "bob" }, "cached"], ["read_page", { url: "a" }])
    )
    await agent(model).invoke(user("my pin is 4711"), thread)
    assert.sameMembers(ran, ["ann", "a"])
    for (const text of ["[withheld]", "from the cache", "be careful with mails", "my pin is [pin]"]) {
      assert.include(lastInput(model), text)
    }
    assert.notInclude(lastInput(model), "4711")
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
    const model = scripted(says("rude"), says("half"), says("dear NAME_1"))
    const guarded = agent(model)
    const refused: unknown = await guarded.invoke(user("bad"), { configurable: { thread_id: "bad" } }).catch((
      error: unknown
    ) => error)
    assert.deepInclude(Object(refused).cause, { name: "GuardError", by: "editor", reason: "not here" })
    const stopped = await guarded.invoke(user("stop"), { configurable: { thread_id: "stop" } })
    assert.strictEqual(textOf(stopped), "closed for today")
    assert.strictEqual(model.callCount, 0)
    assert.strictEqual(textOf(await guarded.invoke(user("write"), thread)), "dear Ann")
    assert.strictEqual(model.callCount, 3)
    await guarded.invoke(user("thanks"), thread)
    assert.include(lastInput(model), "dear NAME_1")
    assert.notInclude(lastInput(model), "Ann")
  })

  it("shows nothing of a streamed answer that a hook sends back", async () => {
    const { agent } = kit([defineHook({
      name: "editor",
      postLlmCall: ({ response: { text } }) =>
        text.includes("rude") ? HookAction.reject("rude", { feedback: "be polite" }) : undefined
    })])
    const model = scripted(says("you rude one"), says("dear friend"))
    const pieces: Array<string> = []
    for await (const [piece] of await agent(model).stream(user("go"), { ...thread, streamMode: "messages" })) {
      pieces.push(piece.text)
    }
    assert.strictEqual(pieces.join(""), "dear friend")
  })

  it("sees calls as they run, with what other middleware has made of them", async () => {
    const { guarded, ran, tools } = kit([defineHook({
      name: "not-eve",
      preToolCall: ({ args }) => Object(args).to === "eve" ? HookAction.reject("not eve") : undefined
    })])
    const meddles = createMiddleware({
      name: "meddles",
      wrapToolCall: (request, handler) =>
        handler({ ...request, toolCall: { ...request.toolCall, args: { to: "eve" } } })
    })
    const model = scripted(calls(["send_mail", { to: "ann" }]))
    await guarded.createAgent({ model, tools: [...tools], middleware: [meddles] }).invoke(user("go"))
    assert.deepStrictEqual(ran, [])
    assert.include(lastInput(model), "not eve")
  })

  it("sees answers with a schema as the end of the turn", async () => {
    const seen: Array<string> = []
    const { guarded } = kit([defineHook({ name: "sees", preStop: ({ text }) => void seen.push(text) })])
    const agent = guarded.createAgent({
      model: scripted(says("{\"sum\":7}")),
      tools: [],
      responseFormat: providerStrategy(z.object({ sum: z.number() }))
    })
    assert.deepStrictEqual((await agent.invoke(user("go"))).structuredResponse, { sum: 7 })
    assert.deepStrictEqual(seen, ["{\"sum\":7}"])
  })

  it("passes errors of tools to the model, and runs nothing if its hook fails, hangs or its store is broken", async () => {
    const broken = tool(() => {
      throw new Error("no paper")
    }, { name: "print", schema: z.object({}) })
    const { guarded } = kit([])
    const model = scripted(calls(["print", {}]))
    await guarded.createAgent({ model, tools: [broken] }).invoke(user("go"))
    assert.include(lastInput(model), "no paper")
    const hooks = [
      defineHook({ name: "throws", kind: "policy", preToolCall: () => Promise.reject(new Error("broken")) }),
      defineHook({ name: "hangs", kind: "policy", timeout: 30, preToolCall: () => new Promise<never>(() => {}) })
    ]
    for (const hook of hooks) {
      const one = kit([hook])
      await one.agent(scripted(calls(["read_page", { url: "a" }]))).invoke(user("go"), thread).catch(() => {})
      assert.deepStrictEqual(one.ran, [], hook.name)
    }
    const store = { ...SessionStore.inMemory(), commit: () => Effect.fail("disk full") }
    const stored = kit([], { id: "s" }, { store })
    const error: unknown = await stored.agent(scripted(calls(["read_page", { url: "a" }]))).invoke(user("go"), thread)
      .catch((error: unknown) => error)
    assert.instanceOf(error, Error)
    assert.deepStrictEqual(stored.ran, [])
  })

  it("shares limits with agents that are tools", async () => {
    let count = 0
    const limit = defineHook({
      name: "two-reads",
      preToolCall: ({ name }) => name === "read_page" && ++count > 2 ? HookAction.reject("no more calls") : undefined
    })
    const { guard, guarded, ran, tools } = kit([limit], { agent: "lead" })
    const second = scripted(calls(["read_page", { url: "x" }]), says("read"))
    const helper = tool(async (_input, { toolCallId }: ToolRuntime) => {
      const inner = LangChain.make(guard, { agent: "helper", parent: guarded.session, parentCall: toolCallId })
      const agent = inner.createAgent({ model: second, tools: [...tools] })
      return textOf(await agent.invoke(user("read x"))) ?? ""
    }, { name: "ask_helper", schema: z.object({}) })
    const first = scripted(
      calls(["read_page", { url: "a" }]),
      calls(["ask_helper", {}]),
      calls(["read_page", { url: "b" }])
    )
    await guarded.createAgent({ model: first, tools: [...tools, helper] }).invoke(user("go"))
    assert.deepStrictEqual(ran, ["a", "x"])
    assert.include(lastInput(first), "no more calls")
  })

  it("takes ids and names such as __proto__ as they are", async () => {
    const { agent, ran } = kit([defineHook({ name: "none", preToolCall: () => HookAction.reject("no tools") })])
    const model = scripted(calls(["__proto__", {}, "__proto__"], ["read_page", { url: "a" }, "constructor"]))
    await agent(model).invoke(user("go"), thread)
    assert.deepStrictEqual(ran, [])
  })
})

describe("a question of the guard in LangChain", () => {
  const asks = defineHook({
    name: "asks",
    preToolCall: ({ name }) => name === "send_mail" ? HookAction.ask("really?") : undefined
  })
  const script = () => scripted(calls(["send_mail", { to: "ann" }, "m1"]), says("the end"))
  const answer = (...decisions: ReadonlyArray<object>) => new Command({ resume: { decisions } })

  it("is an interrupt; an approved call runs once", async () => {
    const { agent, ran } = kit([asks], { approvedBy: "ann" })
    const guarded = agent(script())
    const first = await guarded.invoke(user("go"), thread)
    assert.deepInclude(Object(first)["__interrupt__"][0].value.actionRequests[0], {
      name: "send_mail",
      args: { to: "ann" },
      description: "really?"
    })
    assert.deepStrictEqual(ran, [])
    assert.strictEqual(textOf(await guarded.invoke(answer({ type: "approve" }), thread)), "the end")
    assert.deepStrictEqual(ran, ["ann"])
  })

  it.each([
    ["refused", { type: "reject", message: "not ann" }, [], "not ann"],
    ["edited", { type: "edit", editedAction: { name: "send_mail", args: { to: "bob" } } }, ["bob"], "sent bob"],
    ["answered with something else", { type: "yes" }, [], "is not a decision"]
  ])("that is %s does what the answer says", async (_title, decision, expected, text) => {
    const { agent, guarded: { session }, ran } = kit([asks])
    const model = script()
    const guarded = agent(model)
    await guarded.invoke(user("go"), thread)
    await guarded.invoke(answer(decision), thread)
    assert.deepStrictEqual(ran, expected)
    assert.include(lastInput(model), text)
    assert.deepStrictEqual(await session.pending(), [])
  })

  it("and another one of the same step are answered one by one, and calls without a question run once", async () => {
    const { agent, ran } = kit([asks])
    const guarded = agent(scripted(
      calls(["send_mail", { to: "ann" }, "m1"], ["read_page", { url: "a" }], ["send_mail", { to: "eve" }, "m2"]),
      says("the end")
    ))
    const first: unknown = await guarded.invoke(user("go"), thread)
    const questions = Object(first)["__interrupt__"] as ReadonlyArray<{ readonly id: string; readonly value: unknown }>
    assert.lengthOf(questions, 2)
    const resume = Object.fromEntries(questions.map(({ id, value }) => [
      id,
      { decisions: [{ type: JSON.stringify(value).includes("ann") ? "approve" : "reject" }] }
    ]))
    assert.strictEqual(textOf(await guarded.invoke(new Command({ resume }), thread)), "the end")
    assert.deepStrictEqual(ran, ["a", "ann"])
  })

  it("is answered after a restart, with a store and a checkpointer", async () => {
    const store = SessionStore.inMemory()
    const before = kit([asks], { id: "s" }, { store })
    await before.agent(script()).invoke(user("go"), thread)
    const after = kit([asks], { id: "s" }, { store }, before.checkpointer)
    const resumed = await after.agent(scripted(says("the end"))).invoke(answer({ type: "approve" }), thread)
    assert.strictEqual(textOf(resumed), "the end")
    assert.deepStrictEqual(after.ran, ["ann"])
  })

  it("that nobody was asked here does not run the call", async () => {
    const before = kit([asks])
    await before.agent(script()).invoke(user("go"), thread)
    const after = kit([asks], {}, {}, before.checkpointer)
    const model = scripted(says("the end"))
    await after.agent(model).invoke(answer({ type: "approve" }), thread)
    assert.deepStrictEqual(after.ran, [])
    assert.include(lastInput(model), "no question about send_mail is open")
  })

  it("that needs two people is not met by one approval", async () => {
    const two = defineHook({ name: "two", preToolCall: () => HookAction.ask("both?", undefined, { quorum: 2 }) })
    const { agent, ran } = kit([two], { approvedBy: "ann" })
    const model = script()
    const guarded = agent(model)
    await guarded.invoke(user("go"), thread)
    await guarded.invoke(answer({ type: "approve" }), thread)
    assert.deepStrictEqual(ran, [])
    assert.include(lastInput(model), "more people have to approve")
  })
})

describe("what cannot be guarded in LangChain", () => {
  it("is refused by name: points that do not exist, agents, models and tools that are wrapped twice", () => {
    const hooks = [defineHook({ name: "keeper", kind: "policy", onLlmError: () => HookAction.abort("no") })]
    assert.throws(
      () => LangChain.make(Guard.make({ hooks, log: false })),
      /langchain cannot enforce keeper at onLlmError .*allowUnguarded/
    )
    const { guarded } = kit([])
    assert.throws(() => guarded.createAgent({ model: scripted(), middleware: [guarded.middleware] }), /guarded already/)
    assert.throws(
      () => guarded.createAgent({ model: scripted(), middleware: {} as never }),
      /middleware: expected a list/
    )
    assert.throws(() => guarded.model(guarded.model(scripted())), /guarded already/)
    assert.throws(() => guarded.model(scripted()).withStructuredOutput({}), /use responseFormat/)
    assert.throws(() => guarded.tools(undefined as never), /expected a list of tools/)
    assert.throws(() => guarded.tools([null as never]), /expected tools of LangChain/)
    assert.throws(() => guarded.model("openai:gpt" as never), /expected a chat model/)
    assert.throws(() => guarded.tools(guarded.tools(toolsOf([]))), /tools.send_mail: it is guarded already/)
  })
})
