/** Texts that hooks inject with a call, in the SDKs that do not show their requests to the guard. */
import { type AgentHook, defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { assert, describe, it } from "@effect/vitest"
import * as ClaudeAgent from "../src/ClaudeAgent.ts"
import * as Guard from "../src/Guard.ts"
import * as OpenCode from "../src/OpenCode.ts"
import * as Pi from "../src/Pi.ts"
import * as Strands from "../src/Strands.ts"
import { firing } from "./support/claudeAgent.ts"
import { events as openCode } from "./support/openCode.ts"
import { events as pi } from "./support/pi.ts"
import { events as strands } from "./support/strands.ts"

/** Returns what the model reads of a call, its result included. */
type Reads = (guard: Guard.Guard, answer: boolean) => Promise<string>

const stops = () => {
  throw new Error("interrupted")
}

const inStrands: Reads = async (guard, answer) => {
  const { after, before, model } = strands(Strands.make(guard))
  await model("go")
  // A question ends the run. With an answer, the event happens again.
  const first = await before("act", {}, "1", stops).catch(() => undefined)
  const { cancel } = first ?? await before("act", {}, "1", () => answer)
  return typeof cancel === "string" ? cancel : (await after("act", "ran", "1")).content.map(({ text }) => text).join()
}

const inClaudeAgent: Reads = async (guard, answer) => {
  const canUseTool = () => Promise.resolve({ behavior: answer ? "allow" : "deny", message: "refused" })
  const settings: object = { canUseTool }
  const fire = firing(ClaudeAgent.make(guard).options(settings as Parameters<typeof firing>[0]))
  await fire("UserPromptSubmit", { prompt: "go" })
  return JSON.stringify(await fire("PreToolUse", { tool_name: "act", tool_input: {}, tool_use_id: "1" }))
}

const inPi: Reads = async (guard, answer) => {
  const ui = { notify: () => {}, confirm: () => Promise.resolve(answer) }
  const fire = pi(Pi.make(guard), { context: { hasUI: true, ui } })
  await fire("input", { text: "go" })
  const call = { toolName: "act", toolCallId: "1", input: {} }
  const { reason } = Object(await fire("tool_call", call)) as { readonly reason?: string }
  const content = [{ type: "text", text: "ran" }]
  return reason ?? JSON.stringify(await fire("tool_result", { ...call, content, isError: false }))
}

const inOpenCode: Reads = async (guard) => {
  const { after, before, message } = openCode(await OpenCode.make(guard)(openCode.input))
  await message("go")
  const refused = await before("act", {}, "1").then(() => undefined, String)
  const output = { output: "ran" }
  if (refused === undefined) await after("act", output, "1")
  return refused ?? output.output
}

const adapters = [
  ["Strands", inStrands],
  ["the Claude Agent SDK", inClaudeAgent],
  ["pi", inPi],
  ["opencode", inOpenCode]
] as const

const injects = defineHook({
  name: "injects",
  preToolCall: (_call, ctx) => ctx.inject("use the other tool")
})
const decides = (preToolCall: NonNullable<AgentHook["preToolCall"]>) =>
  Guard.make({ hooks: [injects, defineHook({ name: "decides", preToolCall })], log: false })

describe.each(adapters)("a text that a hook injects in %s", (name, reads) => {
  it("is read with the reason of a refused call, and with a result in its place", async () => {
    const refused = await reads(decides(() => HookAction.reject("not here")), false)
    const answered = await reads(decides(() => HookAction.respond("pong")), false)
    for (const [text, part] of [[refused, "not here"], [answered, "pong"]] as const) {
      assert.include(text, part)
      assert.include(text, "use the other tool")
    }
  })

  it("is read after a person was asked, whatever the person says", async () => {
    for (const answer of [true, false]) {
      const text = await reads(decides(() => HookAction.ask("really?")), answer)
      assert.include(text, "use the other tool")
      const runs = answer && name !== "opencode"
      assert.strictEqual(/ran|"allow"/.test(text), runs, text)
    }
  })
})

describe("a text that a hook injects with a message", () => {
  it("is added to the message in Strands", async () => {
    const hooks = [defineHook({ name: "injects", preTurn: (_turn, ctx) => ctx.inject("be quick") })]
    const { model } = strands(Strands.make(Guard.make({ hooks, log: false })))
    const content: Array<object> = [{ type: "textBlock", text: "go" }]
    assert.isFalse(await model("go", content))
    assert.deepStrictEqual(content.map((block) => Object(block).text), ["go", "be quick"])
  })
})
