/** After somebody changed the arguments of a call, everybody sees the ones that ran, and who changed them. */
import { assert, describe, it } from "@effect/vitest"
import type { AgentConfig } from "../../../src/agent/AgentConfig.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { defineTool } from "../../../src/agent/defineTool.ts"
import type { AgentEvent } from "../../../src/data/AgentEvent.ts"
import { canonical, type Json } from "../../../src/data/Json.ts"
import type { Message, ToolCall } from "../../../src/data/Message.ts"
import type { Decision } from "../../../src/data/RunState.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { assertValid, recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

const written = { to: "model@example.com" }
const gate: AgentHook = { name: "gate", tools: "mail", preToolCall: () => HookAction.ask("sure?") }
const rename: AgentHook = {
  name: "rename",
  priority: 10,
  preToolCall: (call) =>
    canonical(call.args) === canonical(written)
      ? HookAction.transform({ ...call, args: { to: "hook@example.com" } })
      : undefined
}

const callOf = (messages: ReadonlyArray<Message>): ToolCall => {
  const found = messages.find((message) => message.role === "assistant" && message.toolCalls !== undefined)
  return found?.role === "assistant" ? found.toolCalls![0]! : assert.fail("there is no call")
}

const notesOf = (messages: ReadonlyArray<Message>): ReadonlyArray<unknown> =>
  messages.flatMap((message) => message.role === "tool" && message.note !== undefined ? [message.note] : [])

/** Runs a turn with one call, answers the question about it, and returns what everybody saw. */
const run = async (
  hooks: ReadonlyArray<AgentHook>,
  decision?: Decision,
  more: Partial<AgentConfig> = {},
  call: Partial<ToolCall> = {}
) => {
  const model = scripted([{ toolCalls: [{ id: "a", name: "mail", args: written, ...call }] }, "done"])
  const mail = recording("mail")
  const events: Array<AgentEvent> = []
  const make = () => createAgent({ provider: model.provider, tools: [mail.tool], hooks, records: true, ...more })
  await using agent = make()
  agent.on((event) => void events.push(event))
  let result = await agent.run("go")
  if (result.status === "suspended") {
    // Another process.
    await using other = make()
    other.on((event) => void events.push(event))
    result = await other.resume(JSON.stringify(result.snapshot), { a: decision! })
  }
  assert.strictEqual(result.status, "completed")
  assertValid(result.messages)
  return { result, events, ran: mail.ran, requests: model.requests }
}

describe("a call whose arguments", () => {
  it("a person edited is shown as it ran, to the model and in events, with the name of the person", async () => {
    const edit: Decision = { type: "edit", args: { to: "ada@example.com" }, by: "ada" }
    const { events, ran, requests, result } = await run([gate], edit)
    assert.deepStrictEqual(ran, [edit.args])
    const expected = { id: "a", name: "mail", args: edit.args, changed: { by: ["ada"] } }
    assert.deepStrictEqual(callOf(result.messages), expected)
    assert.deepStrictEqual(callOf(requests[1]!.messages), expected)
    const note = "Note: the arguments of this call of mail were changed by ada before it ran. " +
      "The call shows the arguments that it ran with."
    assert.deepStrictEqual(notesOf(requests[1]!.messages), [note])
    assert.deepStrictEqual(events.flatMap((one) => one.type === "tool-start" ? [one.call] : []), [expected])
    assert.deepStrictEqual(events.flatMap((one) => one.type === "ask" ? [one.ask.args] : []), [written])
    assert.deepStrictEqual(events.flatMap((one) => one.type === "decided" ? [one.args] : []), [edit.args])
  })

  it("a hook changed is shown as it ran, and the decision record keeps both", async () => {
    const { ran, result } = await run([rename])
    assert.deepStrictEqual(ran, [{ to: "hook@example.com" }])
    assert.deepInclude(callOf(result.messages), { args: { to: "hook@example.com" }, changed: { by: ["rename"] } })
    const record = result.records?.find(({ point }) => point === "preToolCall")
    assert.include(record?.hooks[0]?.change?.diff, `"model@example.com" -> "hook@example.com"`)
  })

  it("hooks and a person changed names all of them", async () => {
    const { requests, result } = await run([rename, gate], { type: "edit", args: { to: "x" }, by: "ada" })
    assert.deepStrictEqual(callOf(result.messages).changed?.by, ["rename", "ada"])
    assert.include(String(notesOf(requests[1]!.messages)[0]), "changed by rename and ada before")
  })

  it("a hook proposed and a person approved names the hook", async () => {
    const proposing: AgentHook = {
      name: "proposing",
      preToolCall: () => HookAction.ask("better so?", undefined, { args: { to: "proposed" } })
    }
    const { ran, result } = await run([proposing], { type: "approve" })
    assert.deepStrictEqual(ran, [{ to: "proposed" }])
    assert.deepStrictEqual(callOf(result.messages).changed?.by, ["proposing"])
  })

  it("somebody looked at and left as they were, or denied, are the model's, without a note", async () => {
    const same: AgentHook = {
      name: "same",
      preToolCall: (call) => HookAction.transform({ ...call, args: { ...written } })
    }
    const decisions: ReadonlyArray<Decision> = [
      { type: "approve" },
      { type: "edit", args: written },
      { type: "deny", reason: "no" },
      { type: "respond", output: "sent" }
    ]
    for (const decision of decisions) {
      const { requests, result } = await run([same, gate], decision)
      assert.deepStrictEqual(callOf(result.messages), { id: "a", name: "mail", args: written })
      assert.deepStrictEqual(notesOf(requests[1]!.messages), [])
    }
    const denied = await run([rename, gate], { type: "deny", reason: "no" })
    assert.deepStrictEqual(callOf(denied.result.messages), { id: "a", name: "mail", args: written })
    assert.deepStrictEqual(notesOf(denied.requests[1]!.messages), [])
  })

  it("a vendor may have signed keeps what the model wrote beside them, and the note has those that ran", async () => {
    const metadata = { one: { extra_content: { signature: "s" } } }
    const { requests, result } = await run([rename], undefined, {}, { metadata })
    assert.deepStrictEqual(callOf(result.messages), {
      id: "a",
      name: "mail",
      args: { to: "hook@example.com" },
      metadata,
      changed: { by: ["rename"], asked: written }
    })
    assert.include(String(notesOf(requests[1]!.messages)[0]), `It ran with {"to":"hook@example.com"}.`)
  })

  it("have defaults shows them in the conversation, without a note", async () => {
    const input = { type: "object", properties: { n: { type: "number", default: 5 } } }
    const model = scripted([asks(["count", {}]), "done"])
    await using agent = createAgent({
      provider: model.provider,
      tools: [defineTool({ name: "count", description: "Counts", input, execute: ({ n }) => n as Json })]
    })
    const { messages } = await agent.run("go")
    assert.deepInclude(callOf(messages), { args: { n: 5 } })
    assert.isUndefined(callOf(messages).changed)
    assert.deepStrictEqual(notesOf(model.requests[1]!.messages), [])
  })
})

describe("the note about changed arguments", () => {
  it("is written by `changeNote`, which may leave it out", async () => {
    const own = await run([rename], undefined, {
      changeNote: ({ args, by, callId, tool }) => `${tool} ${callId}: ${by.join()} ${JSON.stringify(args)}`
    })
    assert.deepStrictEqual(notesOf(own.requests[1]!.messages), [`mail a: rename {"to":"hook@example.com"}`])
    const none = await run([rename], undefined, { changeNote: () => undefined })
    assert.deepStrictEqual(notesOf(none.requests[1]!.messages), [])
  })

  it("is the usual one, with a warning, if `changeNote` fails", async () => {
    const { events, requests } = await run([rename], undefined, {
      log: false,
      changeNote: () => {
        throw new Error("no words")
      }
    })
    assert.include(String(notesOf(requests[1]!.messages)[0]), "changed by rename before")
    assert.isTrue(events.some((event) => event.type === "warning" && event.message.includes("no words")))
  })
})
