/** Who decides about a call sees the arguments with which it will run, also if hooks have changed them. */
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { assert, describe, it } from "@effect/vitest"
import { generateText } from "ai"
import * as ClaudeAgent from "../src/ClaudeAgent.ts"
import * as Guard from "../src/Guard.ts"
import * as Pi from "../src/Pi.ts"
import * as Strands from "../src/Strands.ts"
import { kit as aiSdk } from "./support/aiSdk.ts"
import { firing } from "./support/claudeAgent.ts"
import * as langChain from "./support/langChain.ts"
import { kit as mastra } from "./support/mastra.ts"
import { calls, scripted } from "./support/model.ts"
import { events as pi } from "./support/pi.ts"
import { events as strands } from "./support/strands.ts"

const changes = defineHook({
  name: "changes",
  preToolCall: (call) =>
    Object(call.args)["to"] === "ann" ? HookAction.transform({ ...call, args: { to: "zoe" } }) : undefined
})
const asks = defineHook({ name: "asks", preToolCall: () => HookAction.ask("really?") })
const hooks = [changes, asks]
const plain = "really?"
const withArguments = "really?\nIt will run with other arguments: {\"to\":\"zoe\"}"

describe("the person who decides about changed arguments", () => {
  it("reads them in the reason of the AI SDK's approval request", async () => {
    const { guarded, tools } = aiSdk(hooks)
    const model = scripted(calls(["send_mail", { to: "ann", text: "" }], ["read_page", { url: "a" }]))
    const { content } = await generateText(guarded.settings({ model, tools, prompt: "go" }))
    const reasons = content.flatMap((part) => part.type === "tool-approval-request" ? [part.reason] : [])
    assert.deepStrictEqual(reasons, [withArguments, plain])
  })

  it("sees them in the interrupt of LangChain", async () => {
    const { agent } = langChain.kit(hooks)
    const model = langChain.scripted(langChain.calls(["send_mail", { to: "ann" }]))
    const { __interrupt__: [interrupt] = [] } = await agent(model).invoke(langChain.user("go"), langChain.thread)
    assert.deepInclude(interrupt?.value, {
      actionRequests: [{ name: "send_mail", args: { to: "zoe" }, description: "really?" }]
    })
  })

  it("reads them in the reason of the tool that Mastra suspends", async () => {
    const { ask, call, suspended } = mastra(hooks, scripted(calls(["send_mail", { to: "ann" }, "1"])))
    await ask("go")
    await call("ann")
    assert.deepStrictEqual(suspended, [{ tool: "send_mail", reason: withArguments }])
  })

  it("reads them in the reason of Strands' interrupt", async () => {
    const { before } = strands(Strands.make(Guard.make({ hooks, log: false })))
    const reasons: Array<unknown> = []
    const interrupt = (params?: { readonly reason?: unknown }) => {
      reasons.push(params?.reason)
      throw new Error("interrupted")
    }
    await before("mail", { to: "ann" }, "1", interrupt).catch(() => undefined)
    await before("mail", { to: "bob" }, "2", interrupt).catch(() => undefined)
    assert.deepStrictEqual(reasons, [withArguments, plain])
  })

  it("gets them in canUseTool of the Claude Agent SDK, and approves what it got", async () => {
    const canUseTool = (_name: string, updatedInput: object) =>
      Promise.resolve({ behavior: "allow", updatedInput: { ...updatedInput } })
    const guard = Guard.make({ hooks, log: false })
    const fire = firing(ClaudeAgent.make(guard).options({ hooks: {}, canUseTool }))
    const given = { tool_name: "Mail", tool_input: { to: "ann" }, tool_use_id: "1" }
    const { hookSpecificOutput } = Object(await fire("PreToolUse", given)) as { readonly hookSpecificOutput: object }
    assert.deepInclude(hookSpecificOutput, { permissionDecision: "allow", updatedInput: { to: "zoe" } })
    const edits = () => Promise.resolve({ behavior: "allow", updatedInput: { to: "bob" } })
    const other = firing(ClaudeAgent.make(guard).options({ hooks: {}, canUseTool: edits }))
    const edited = Object(await other("PreToolUse", given)) as { readonly hookSpecificOutput: object }
    assert.deepInclude(edited.hookSpecificOutput, { permissionDecision: "allow", updatedInput: { to: "bob" } })
  })

  it("sees them in the dialog of pi", async () => {
    const shown: Array<string> = []
    const confirm = (_title: string, text: string) => Promise.resolve(shown.push(text) > 0)
    const ui = { confirm, notify: () => {} }
    const fire = pi(Pi.make(Guard.make({ hooks, log: false })), { context: { hasUI: true, ui } })
    const event = { toolName: "send_mail", toolCallId: "1", input: { to: "ann" } }
    await fire("tool_call", event)
    assert.deepStrictEqual(shown, ["really?\n\n{\n  \"to\": \"zoe\"\n}"])
    assert.deepStrictEqual(event.input, { to: "zoe" })
  })
})
