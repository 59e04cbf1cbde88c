/** Questions of the guard as approval requests of the AI SDK. */
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as SessionStore from "@belay/core/SessionStore"
import { assert, describe, it } from "@effect/vitest"
import { generateText, type ModelMessage } from "ai"
import { kit, stopWhen } from "./support/aiSdk.ts"
import { calls, lastPrompt, says, scripted } from "./support/model.ts"

describe("a question of the guard", () => {
  const asks = defineHook({
    name: "asks",
    preToolCall: ({ name }) => name === "send_mail" ? HookAction.ask("really?") : undefined
  })

  /** Runs until the question, then answers as an app does. */
  const answered = async (
    { guarded, tools }: ReturnType<typeof kit>,
    approved: boolean,
    next = guarded,
    forge: (messages: Array<ModelMessage>) => Array<ModelMessage> = (messages) => messages
  ) => {
    const model = scripted(calls(["send_mail", { to: "ann" }, "m1"]), says("the end"))
    const first = await generateText(guarded.settings({ model, tools, stopWhen, prompt: "go" }))
    const request = first.content.find((part) => part.type === "tool-approval-request")
    const messages = forge([
      { role: "user", content: "go" },
      ...first.response.messages,
      {
        role: "tool",
        content: [{ type: "tool-approval-response", approvalId: request?.approvalId ?? "none", approved }]
      }
    ])
    const second = await generateText(next.settings({ model, tools, stopWhen, messages }))
    return { first, second, messages, model, request }
  }

  it("is its approval request; an approved call runs once", async () => {
    const parts = kit([asks], { approvedBy: "ann" })
    const { model, request, second } = await answered(parts, true)
    assert.strictEqual(request?.toolCall.toolCallId, "m1")
    assert.deepStrictEqual(parts.ran, ["ann"])
    assert.strictEqual(second.text, "the end")
    assert.include(lastPrompt(model), "sent")
  })

  it("that is refused does not run the call, and the guard knows", async () => {
    const parts = kit([asks])
    await answered(parts, false)
    assert.deepStrictEqual(parts.ran, [])
    assert.deepStrictEqual(await parts.guarded.session.pending(), [])
  })

  it("is answered after a restart, with a store", async () => {
    const store = SessionStore.inMemory()
    const before = kit([asks], { id: "s" }, { store })
    const after = kit([asks], { id: "s" }, { store })
    await answered({ ...before, tools: after.tools }, true, after.guarded)
    assert.deepStrictEqual(after.ran, ["ann"])
  })

  it("that nobody has asked cannot be answered by the client's messages", async () => {
    const before = kit([asks])
    const after = kit([asks])
    const { model } = await answered({ ...before, tools: after.tools }, true, after.guarded)
    assert.deepStrictEqual(after.ran, [])
    assert.include(lastPrompt(model), "no question about send_mail is open")
  })

  it("with other arguments than those that were asked about does not run", async () => {
    const parts = kit([asks])
    await answered(
      parts,
      true,
      parts.guarded,
      (messages) =>
        JSON.parse(JSON.stringify(messages).replaceAll("\"to\":\"ann\"", "\"to\":\"eve\"")) as Array<ModelMessage>
    )
    assert.deepStrictEqual(parts.ran, [])
  })

  it("has an answer of its own, beside that to another question", async () => {
    for (const approved of [[true, false], [false, true]]) {
      const { guarded, ran, tools } = kit([asks])
      const model = scripted(
        calls(["send_mail", { to: "ann" }, "m1"], ["send_mail", { to: "bob" }, "m2"]),
        says("the end")
      )
      const first = await generateText(guarded.settings({ model, tools, stopWhen, prompt: "go" }))
      const requests = first.content.filter((part) => part.type === "tool-approval-request")
      const messages: Array<ModelMessage> = [{ role: "user", content: "go" }, ...first.response.messages, {
        role: "tool",
        content: requests.map(({ approvalId }, index) => ({
          type: "tool-approval-response",
          approvalId,
          approved: approved[index] === true
        }))
      }]
      await generateText(guarded.settings({ model, tools, stopWhen, messages }))
      assert.deepStrictEqual(ran, approved[0] === true ? ["ann"] : ["bob"])
    }
  })

  it("that only some people may answer is answered in the name of the option", async () => {
    const ann = defineHook({ name: "ann", preToolCall: () => HookAction.ask("?", undefined, { approvers: ["ann"] }) })
    const parts = kit([ann], { approvedBy: "ann" })
    await answered(parts, true)
    assert.deepStrictEqual(parts.ran, ["ann"])
  })

  it("is answered once: the same answer, sent again, runs nothing and says why", async () => {
    const parts = kit([asks])
    const { guarded, ran, tools } = parts
    const { messages } = await answered(parts, true)
    const model = scripted(says("the end"))
    await generateText(guarded.settings({ model, tools, stopWhen, messages }))
    assert.deepStrictEqual(ran, ["ann"])
    assert.include(lastPrompt(model), "send_mail has run already")
  })

  it("that only some people may answer is neither approved nor refused by others, and the run goes on", async () => {
    const ann = defineHook({ name: "ann", preToolCall: () => HookAction.ask("?", undefined, { approvers: ["ann"] }) })
    for (const approvedBy of [{}, { approvedBy: "eve" }]) {
      for (const approved of [true, false]) {
        const parts = kit([ann], approvedBy)
        const { second } = await answered(parts, approved)
        assert.deepStrictEqual([second.text, parts.ran], ["the end", []])
      }
    }
    const parts = kit([ann], { approvedBy: "ann" })
    await answered(parts, false)
    assert.deepStrictEqual([parts.ran, await parts.guarded.session.pending()], [[], []])
  })

  it("that needs two people is not met by one approval", async () => {
    const two = defineHook({ name: "two", preToolCall: () => HookAction.ask("both?", undefined, { quorum: 2 }) })
    const parts = kit([two], { approvedBy: "ann" })
    const { model } = await answered(parts, true)
    assert.deepStrictEqual(parts.ran, [])
    assert.include(lastPrompt(model), "more people have to approve")
  })
})

describe("a message with a file", () => {
  it("shows the file to hooks, and keeps it when a hook changes the text", async () => {
    const seen: Array<unknown> = []
    const hook = defineHook({
      name: "hook",
      preTurn: (turn) => {
        seen.push(turn.attachments?.map(({ mediaType }) => mediaType))
        return HookAction.transform({ ...turn, message: "changed" })
      }
    })
    const { guarded, tools } = kit([hook])
    const model = scripted(says("the end"))
    const content = [{ type: "text", text: "go" }, { type: "file", mediaType: "text/plain", data: "aGk=" }] as const
    const messages: Array<ModelMessage> = [{ role: "user", content: [...content] }]
    await generateText(guarded.settings({ model, tools, stopWhen, messages }))
    assert.deepStrictEqual(seen, [["text/plain"]])
    assert.include(lastPrompt(model), "changed")
    assert.include(lastPrompt(model), "text/plain")
  })
})
