/** What was said and asked before: it is read once, and of what has one id, the last counts. */
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { assert, describe, it } from "@effect/vitest"
import { generateText, type ModelMessage, tool, ToolLoopAgent, type ToolSet } from "ai"
import * as z from "zod"
import * as Guard from "../src/Guard.ts"
import * as Pi from "../src/Pi.ts"
import { kit } from "./support/aiSdk.ts"
import { lastPrompt, says, scripted } from "./support/model.ts"
import { events as pi } from "./support/pi.ts"

const user = (content: string): ModelMessage => ({ role: "user", content })
// The types of the SDK are not made for exact optional properties.
const where = tool({ inputSchema: z.object({ exact: z.boolean().default(false) }) }) as ToolSet[string]
const asked = (toolCallId: string, exact: boolean): ModelMessage => ({
  role: "assistant",
  content: [{ type: "tool-call", toolCallId, toolName: "where", input: { exact } }]
})
const result = (toolCallId: string, value: string): ModelMessage => ({
  role: "tool",
  content: [{ type: "tool-result", toolCallId, toolName: "where", output: { type: "text", value } }]
})

describe("the messages before that of the user", () => {
  it("are checked with the first message, and not again with later ones", async () => {
    const checked: Array<string> = []
    const { guarded, tools } = kit([
      defineHook({
        name: "reads",
        preTurn: ({ message, part }) => void checked.push(part === undefined ? message : `${part}: ${message}`)
      })
    ])
    const model = scripted(says("fine"), says("good"))
    const first = [user("one"), { role: "assistant" as const, content: "1" }, user("two")]
    const agent = new ToolLoopAgent(guarded.settings({ model, tools }))
    const { response } = await agent.generate({ messages: first })
    await agent.generate({ messages: [...first, ...response.messages, user("three")] })
    assert.deepStrictEqual(checked, ["before: one", "before: 1", "two", "three"])
  })

  it("have results that are checked, if a client adds them later", async () => {
    const { guarded } = kit([defineHook({
      name: "cuts",
      kind: "policy",
      postToolCall: ({ result }) =>
        JSON.stringify(result).includes("4711") ? HookAction.transform({ ok: true, output: "[cut]" }) : undefined
    })])
    const model = scripted(says("fine"), says("good"))
    const agent = new ToolLoopAgent(guarded.settings({ model, tools: { where } }))
    await agent.generate({ messages: [user("one")] })
    const added = [asked("w", true), result("w", "pin 4711"), { role: "assistant" as const, content: "fine" }]
    await agent.generate({ messages: [user("one"), ...added, user("two")] })
    assert.include(lastPrompt(model), "[cut]")
    assert.notInclude(lastPrompt(model), "4711")
  })
})

describe("a result that a client has made", () => {
  it("is shown with the arguments of the last call with its id", async () => {
    const args: Array<unknown> = []
    const { guarded } = kit([defineHook({ name: "reads", postToolCall: ({ call }) => void args.push(call.args) })])
    const model = scripted(says("fine"))
    const messages = [
      user("go"),
      asked("w", false),
      { role: "assistant" as const, content: "not answered" },
      asked("w", true),
      result("w", "here"),
      user("and now?")
    ]
    await generateText(guarded.settings({ model, tools: { where }, messages }))
    assert.deepStrictEqual(args, [{ exact: true }])
  })
})

describe("an approval in the messages", () => {
  const asks = defineHook({ name: "asks", preToolCall: () => HookAction.ask("really?") })
  const request = (approvalId: string): ModelMessage => ({
    role: "assistant",
    content: [
      { type: "tool-call", toolCallId: "m1", toolName: "send_mail", input: { to: "ann", text: "" } },
      { type: "tool-approval-request", approvalId, toolCallId: "m1" }
    ]
  })
  const answer = (approvalId: string, approved: boolean): ModelMessage => ({
    role: "tool",
    content: [{ type: "tool-approval-response", approvalId, approved }]
  })
  /** What the guard says about the call m1, after it has asked about it. */
  const statusAfter = async (...messages: ReadonlyArray<ModelMessage>) => {
    const { guarded, tools } = kit([asks])
    const { toolApproval } = guarded.settings({ model: scripted(), tools, prompt: "go" }) as unknown as {
      readonly toolApproval: (asked: object) => Promise<unknown>
    }
    const toolCall = { toolCallId: "m1", toolName: "send_mail", input: { to: "ann", text: "" } }
    const about = (messages: ReadonlyArray<ModelMessage>) => toolApproval({ toolCall, messages, tools })
    await about([user("go")])
    const status = await about([user("go"), ...messages])
    return typeof status === "object" ? Object(status).type : status
  }

  it("is the answer to the last request about the call, and the last answer to it", async () => {
    assert.strictEqual(await statusAfter(request("a"), answer("a", true)), undefined)
    assert.strictEqual(await statusAfter(request("a"), answer("a", true), request("b")), "user-approval")
    assert.strictEqual(await statusAfter(request("a"), answer("a", true), answer("a", false)), "user-approval")
  })
})

describe("the answer that a turn ends with in pi", () => {
  it("is the last one", async () => {
    const texts: Array<string> = []
    const hook = defineHook({ name: "reads", preStop: ({ text }) => void texts.push(text) })
    const fire = pi(Pi.make(Guard.make({ hooks: [hook], log: false })))
    const says = (text: string) => ({ role: "assistant", content: [{ type: "text", text }] })
    const contextMessages = [says("first"), { role: "user", content: [] }, says("last")]
    await fire("input", { text: "hi" })
    await fire("agent_before_settle", { outcome: "completed", context: { contextMessages } })
    assert.deepStrictEqual(texts, ["last"])
  })
})
