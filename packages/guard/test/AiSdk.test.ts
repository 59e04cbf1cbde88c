/** The guard inside the AI SDK, with the real package and its own test models. */
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { assert, describe, it } from "@effect/vitest"
import { generateText, type ModelMessage, streamText, tool, ToolLoopAgent, type ToolSet } from "ai"
import * as z from "zod"
import * as AiSdk from "../src/AiSdk.ts"
import * as Guard from "../src/Guard.ts"
import { kit, stopWhen } from "./support/aiSdk.ts"
import { calls, lastPrompt, says, scripted } from "./support/model.ts"

const readAll = async (stream: AsyncIterable<unknown>): Promise<ReadonlyArray<unknown>> => {
  const parts: Array<unknown> = []
  for await (const part of stream) parts.push(part)
  return parts
}

describe("the guard in generateText", () => {
  it("denies a call: the tool does not run, and the model reads the reason", async () => {
    const { guarded, ran, tools } = kit([defineHook({
      name: "no-mail",
      preToolCall: ({ name }) => name === "send_mail" ? HookAction.reject("no mail leaves this house") : undefined
    })])
    const model = scripted(calls(["send_mail", { to: "eve" }], ["read_page", { url: "a" }]), says("could not send"))
    const { text } = await generateText(guarded.settings({ model, tools, stopWhen, prompt: "go" }))
    assert.deepStrictEqual(ran, ["a"])
    assert.strictEqual(text, "could not send")
    assert.include(lastPrompt(model), "no mail leaves this house")
  })

  it("changes arguments and results", async () => {
    const { guarded, ran, tools } = kit([defineHook({
      name: "changes",
      preToolCall: (call) =>
        call.name === "send_mail" ? HookAction.transform({ ...call, args: { to: "ann", text: "hi" } }) : undefined,
      postToolCall: ({ call, result }) =>
        result.ok && call.name === "read_page" ? HookAction.transform({ ok: true, output: "[withheld]" }) : undefined
    })])
    const model = scripted(calls(["send_mail", { to: "eve" }], ["read_page", { url: "a" }]), says("ok"))
    await generateText(guarded.settings({ model, tools, stopWhen, prompt: "go" }))
    assert.sameMembers(ran, ["ann", "a"])
    assert.include(lastPrompt(model), "[withheld]")
    assert.notInclude(lastPrompt(model), "4711")
  })

  it("answers in place of a tool, adds injected texts, and checks messages", async () => {
    const { guarded, ran, tools } = kit([defineHook({
      name: "mixed",
      preTurn: ({ message }) => HookAction.transform({ message: message.replace("4711", "[pin]") }),
      preToolCall: (_call, ctx) => {
        ctx.inject("be careful with pages")
        return HookAction.respond("from the cache")
      }
    })])
    const model = scripted(calls(["read_page", { url: "a" }]), says("ok"))
    await generateText(guarded.settings({ model, tools, stopWhen, prompt: "my pin is 4711" }))
    assert.deepStrictEqual(ran, [])
    assert.include(lastPrompt(model), "from the cache")
    assert.include(lastPrompt(model), "be careful with pages")
    assert.include(lastPrompt(model), "my pin is [pin]")
    assert.notInclude(lastPrompt(model), "4711")
  })

  it("refuses a message with an error that says who did, and ends a turn with the reason of an abort", async () => {
    const { guarded, tools } = kit([defineHook({
      name: "doorman",
      preTurn: ({ message }) => {
        if (message === "bad") return HookAction.reject("not here")
        return message === "stop" ? HookAction.abort("closed for today") : undefined
      }
    })])
    const model = scripted(says("never"))
    const refused = await generateText(guarded.settings({ model, tools, prompt: "bad" })).then(
      () => undefined,
      (error: unknown) => error
    )
    assert.deepInclude(refused, { name: "GuardError", by: "doorman", reason: "not here", verdict: "deny" })
    assert.strictEqual(
      (await generateText(guarded.settings({ model, tools, prompt: "stop" }))).text,
      "closed for today"
    )
    assert.lengthOf(model.doGenerateCalls, 0)
  })

  it("sends an answer back, goes on when a hook wants more, and reveals for the user only", async () => {
    const { guarded, tools } = kit([defineHook({
      name: "editor",
      postLlmCall: ({ response: { text } }) =>
        text === "rude" ? HookAction.reject("rude", { feedback: "be polite" }) : undefined,
      preStop: ({ text }, ctx) => {
        if (text === "half") ctx.followUp("and the rest?")
      },
      revealText: (text) => text.replace("NAME_1", "Ann")
    })])
    const model = scripted(says("rude"), says("half"), says("dear NAME_1"), says("bye"))
    const first = await generateText(guarded.settings({ model, tools, prompt: "write" }))
    assert.strictEqual(first.text, "dear Ann")
    assert.lengthOf(model.doGenerateCalls, 3)
    const messages: ReadonlyArray<ModelMessage> = [
      { role: "user", content: "write" },
      ...first.response.messages,
      { role: "user", content: "thanks" }
    ]
    await generateText(guarded.settings({ model, tools, messages: [...messages] }))
    assert.include(lastPrompt(model), "dear NAME_1")
    assert.notInclude(lastPrompt(model), "Ann")
  })

  it("keeps what no hook changes: types of results, files, and the error of a tool", async () => {
    const guarded = AiSdk.make(Guard.make({ log: false, hooks: [defineHook({ name: "sees", preToolCall: () => {} })] }))
    const when = new Date(0)
    const failed = new Error("no such page")
    const tools = guarded.tools({
      clock: tool({ inputSchema: z.object({}), execute: () => when }),
      fails: tool({
        inputSchema: z.object({}),
        execute: (): string => {
          throw failed
        }
      })
    })
    const model = scripted(calls(["clock", {}], ["fails", {}]), says("ok"))
    const { steps } = await generateText({
      model: guarded.model(model),
      tools,
      toolApproval: guarded.toolApproval(),
      stopWhen,
      messages: [{
        role: "user",
        content: [{ type: "text", text: "look" }, {
          type: "file",
          mediaType: "image/png",
          data: new Uint8Array([1, 2])
        }]
      }]
    })
    assert.strictEqual(steps[0]!.toolResults[0]!.output, when)
    assert.strictEqual(steps[0]!.content.find((part) => part.type === "tool-error")?.error, failed)
    const [user] = model.doGenerateCalls.at(-1)!.prompt
    assert.deepStrictEqual(JSON.stringify(user), JSON.stringify(model.doGenerateCalls[0]!.prompt[0]))
    assert.include(JSON.stringify(user), "image/png")
  })
})

describe("the guard in streamText", () => {
  it("shows text at once if no hook can still change it, and holds tools until the answer is accepted", async () => {
    const { guarded, ran, tools } = kit([defineHook({
      name: "masks",
      onLlmDelta: (delta) =>
        delta.type === "text"
          ? HookAction.transform({ type: "text", text: delta.text.replace("4711", "****") })
          : undefined,
      preToolCall: ({ name }) => name === "send_mail" ? HookAction.reject("no mail") : undefined
    })])
    const model = scripted(
      calls(["send_mail", { to: "eve" }], ["read_page", { url: "a" }]),
      says("the pin is 4711 now")
    )
    const result = streamText(guarded.settings({ model, tools, stopWhen, prompt: "go" }))
    const pieces: Array<string> = []
    for await (const piece of result.textStream) pieces.push(piece)
    assert.strictEqual(pieces.join(""), "the pin is **** now")
    assert.isAbove(pieces.length, 2)
    assert.deepStrictEqual(ran, ["a"])
  })

  it("shows nothing of an answer that a hook sends back", async () => {
    const { guarded, tools } = kit([defineHook({
      name: "editor",
      postLlmCall: ({ response: { text } }) =>
        text.includes("rude") ? HookAction.reject("rude", { feedback: "be polite" }) : undefined
    })])
    const model = scripted(says("you rude one"), says("dear friend"))
    const result = streamText(guarded.settings({ model, tools, prompt: "go" }))
    assert.strictEqual(await result.text, "dear friend")
    assert.notInclude(JSON.stringify(await readAll(result.fullStream)), "rude")
  })

  it("ends with an error if a hook refuses the message", async () => {
    const { guarded, tools } = kit([defineHook({ name: "doorman", preTurn: () => HookAction.reject("not here") })])
    const errors: Array<unknown> = []
    const result = streamText(guarded.settings({
      model: scripted(says("never")),
      tools,
      prompt: "go",
      onError: ({ error }: { readonly error: unknown }) => void errors.push(error)
    }))
    await readAll(result.fullStream)
    assert.deepInclude(errors[0], { by: "doorman", reason: "not here" })
  })
})

describe("the guard in ToolLoopAgent", () => {
  it("guards parallel calls, each with its own verdict", async () => {
    let count = 0
    const { guarded, ran, tools } = kit([defineHook({
      name: "two-only",
      preToolCall: async () => {
        await Promise.resolve()
        return ++count > 2 ? HookAction.reject("at most two") : undefined
      }
    })])
    const model = scripted(
      calls(["send_mail", { to: "a" }], ["send_mail", { to: "b" }], ["send_mail", { to: "c" }], ["send_mail", {
        to: "d"
      }])
    )
    const agent = new ToolLoopAgent(guarded.settings({ model, tools, stopWhen }))
    await agent.generate({ prompt: "go" })
    assert.lengthOf(ran, 2)
  })

  it("guards an agent that works as a tool of another, with one state", async () => {
    let count = 0
    const limit = defineHook({
      name: "three-calls",
      preToolCall: ({ name }, { agent }) =>
        name !== "ask_helper" && ++count > 3 ? HookAction.reject(`no more calls for ${agent.name}`) : undefined
    })
    const { guard, guarded, ran, tools } = kit([limit], { agent: "lead" })
    const ask_helper = tool({
      inputSchema: z.object({ task: z.string() }),
      execute: async ({ task }, { toolCallId }) => {
        const inner = AiSdk.make(guard, { agent: "helper", parent: guarded.session, parentCall: toolCallId })
        const model = scripted(calls(["read_page", { url: "x" }], ["read_page", { url: "y" }]), says("read"))
        const { text } = await new ToolLoopAgent(inner.settings({ model, tools, stopWhen })).generate({ prompt: task })
        await inner.session.end()
        return text
      }
    })
    const model = scripted(
      calls(["read_page", { url: "a" }]),
      calls(["ask_helper", { task: "read" }]),
      calls(["read_page", { url: "b" }])
    )
    await new ToolLoopAgent(guarded.settings({ model, tools: { ...tools, ask_helper }, stopWhen })).generate({
      prompt: "go"
    })
    assert.deepStrictEqual(ran, ["a", "x", "y"])
    assert.include(lastPrompt(model), "no more calls for lead")
  })

  it("guards models and tools that a program chooses for a step or a call", async () => {
    const { guarded, ran, tools } = kit([defineHook({
      name: "rules",
      kind: "policy",
      preToolCall: () => HookAction.reject("no tools"),
      postLlmCall: ({ response: { text } }) =>
        text === "rude" ? HookAction.reject("rude", { feedback: "be polite" }) : undefined
    })])
    const other = scripted(says("rude"), says("polite"))
    const { text } = await generateText(guarded.settings({
      model: scripted(),
      tools,
      prompt: "go",
      prepareStep: () => ({ model: other })
    }))
    assert.strictEqual(text, "polite")
    const agent = new ToolLoopAgent(guarded.settings({
      model: scripted(),
      tools,
      stopWhen,
      prepareCall: (settings) => ({ ...settings, model: scripted(calls(["read_page", { url: "a" }])), tools })
    }))
    await agent.generate({ prompt: "again" })
    assert.deepStrictEqual(ran, [])
  })

  it("begins a turn for each message, also the same one twice", async () => {
    const turns: Array<number> = []
    const { guarded, tools } = kit([
      defineHook({ name: "counts", preTurn: (_input, { turnNumber }) => void turns.push(turnNumber) })
    ])
    const agent = new ToolLoopAgent(
      guarded.settings({ model: scripted(calls(["read_page", { url: "a" }])), tools, stopWhen })
    )
    await agent.generate({ prompt: "go" })
    await agent.generate({ prompt: "go" })
    assert.deepStrictEqual(turns, [1, 2])
  })

  it("checks results that a client has made", async () => {
    const { guarded } = kit([defineHook({
      name: "withholds",
      postToolCall: ({ result }) =>
        result.ok && JSON.stringify(result.output).includes("4711")
          ? HookAction.transform({ ok: true, output: "[withheld]" })
          : undefined
    })])
    const tools: ToolSet = { ask_browser: tool({ inputSchema: z.object({}), outputSchema: z.string() }) }
    const model = scripted(calls(["ask_browser", {}, "c1"]), says("ok"), says("ok"))
    const first = await generateText(guarded.settings({ model, tools, prompt: "go" }))
    const messages: Array<ModelMessage> = [
      { role: "user", content: "go" },
      ...first.response.messages,
      {
        role: "tool",
        content: [{
          type: "tool-result",
          toolCallId: "c1",
          toolName: "ask_browser",
          output: { type: "text", value: "pin 4711" }
        }]
      }
    ]
    await generateText(guarded.settings({ model, tools, messages }))
    assert.include(lastPrompt(model), "[withheld]")
    messages.push({ role: "assistant", content: "ok" }, { role: "user", content: "and now?" })
    await generateText(guarded.settings({ model, tools, messages }))
    assert.include(lastPrompt(model), "[withheld]")
    assert.notInclude(lastPrompt(model), "4711")
  })
})
