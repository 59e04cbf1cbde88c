/** The guard inside a graph of LangGraph that calls its model and its tools itself. */
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { assert, describe, it } from "@effect/vitest"
import { Command, MemorySaver } from "@langchain/langgraph"
import type { fakeModel } from "langchain"
import { calls, kit, lastInput, loopOf, says, scripted, thread, user } from "./support/langChain.ts"

const graphOf = ({ guarded, tools }: ReturnType<typeof kit>, model: ReturnType<typeof fakeModel>, isWhole = true) =>
  loopOf(isWhole ? guarded.model(model) : model, guarded.tools(tools)).compile({ checkpointer: new MemorySaver() })

describe("the guard in a graph", () => {
  it("denies calls, changes results, and adds injected texts", async () => {
    const parts = kit([defineHook({
      name: "careful",
      preToolCall: ({ name }, ctx) => {
        ctx.inject("be careful")
        return name === "send_mail" ? HookAction.reject("no mails") : undefined
      },
      postToolCall: ({ result }) => result.ok ? HookAction.transform({ ok: true, output: "[withheld]" }) : undefined
    })])
    const model = scripted(calls(["send_mail", { to: "eve" }], ["read_page", { url: "a" }]), says("bye"))
    const { messages } = await graphOf(parts, model).invoke(user("go"), thread)
    assert.strictEqual(messages.at(-1)?.text, "bye")
    assert.deepStrictEqual(parts.ran, ["a"])
    for (const text of ["no mails", "[withheld]", "be careful"]) assert.include(lastInput(model), text)
  })

  it("asks with an interrupt", async () => {
    const parts = kit([defineHook({
      name: "asks",
      preToolCall: ({ name }) => name === "send_mail" ? HookAction.ask("really?") : undefined
    })])
    const graph = graphOf(parts, scripted(calls(["send_mail", { to: "ann" }]), says("bye")))
    await graph.invoke(user("go"), thread)
    assert.deepStrictEqual(parts.ran, [])
    await graph.invoke(new Command({ resume: { decisions: [{ type: "approve" }] } }), thread)
    assert.deepStrictEqual(parts.ran, ["ann"])
  })

  it("runs no tool if the guard has not seen the model", async () => {
    const parts = kit([])
    const model = scripted(calls(["read_page", { url: "a" }]))
    await graphOf(parts, model, false).invoke(user("go"), thread)
    assert.deepStrictEqual(parts.ran, [])
    assert.include(lastInput(model), "Use guarded.model(model)")
  })

  it("runs no tool that is called directly, and streams nothing before the hooks have decided", async () => {
    const parts = kit([defineHook({
      name: "editor",
      postLlmCall: ({ response: { text } }) =>
        text === "rude" ? HookAction.reject("rude", { feedback: "be polite" }) : undefined
    })])
    const [sendMail] = parts.guarded.tools(parts.tools)
    assert.include(Object(await sendMail.invoke({ to: "eve" })).text, "not run")
    assert.deepStrictEqual(parts.ran, [])
    const pieces: Array<string> = []
    const graph = graphOf(parts, scripted(says("rude"), says("polite")))
    for await (const [piece] of await graph.stream(user("go"), { ...thread, streamMode: "messages" })) {
      pieces.push(piece.text)
    }
    assert.strictEqual(pieces.join(""), "polite")
  })
})
