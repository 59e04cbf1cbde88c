/** Results in the Claude Agent SDK that hooks change or withhold. The SDK ignores what has not the form of its tool. */
import { type AgentHook, defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { Secrets } from "@belay/hooks"
import { assert, describe, it } from "@effect/vitest"
import * as ClaudeAgent from "../src/ClaudeAgent.ts"
import * as Guard from "../src/Guard.ts"
import { firing } from "./support/claudeAgent.ts"

const key = "AKIAIOSFODNN7EXAMPLE"

const kit = (hook: AgentHook, allowUnguarded: ReadonlyArray<string> = []) => {
  const guarded = ClaudeAgent.make(Guard.make({ hooks: [hook], log: false, allowUnguarded }))
  const fire = firing(guarded.options({}))
  const result = async (tool_name: string, tool_response: unknown) =>
    Object(await fire("PostToolUse", { tool_name, tool_input: {}, tool_use_id: "1", tool_response }))
  const failure = async (error: string, more: object = {}) =>
    Object(await fire("PostToolUseFailure", { tool_name: "Bash", tool_input: {}, tool_use_id: "1", error, ...more }))
  return { failure, fire, result }
}

const breaks = defineHook({
  name: "breaks",
  failOpen: false,
  postToolCall: () => {
    throw new Error("broken")
  }
})
const command = { stdout: "the pin is 4711", stderr: "4711", interrupted: false, isImage: false }
const reason = "hook breaks failed at postToolCall (threw): broken"

describe("a result that hooks withhold", () => {
  it("keeps the form of a command and of a file", async () => {
    const { result } = kit(breaks)
    assert.deepStrictEqual((await result("Bash", command)).hookSpecificOutput.updatedToolOutput, {
      ...command,
      stdout: reason,
      stderr: ""
    })
    const file = { type: "text", file: { filePath: "/a", content: "4711", numLines: 1 } }
    assert.deepStrictEqual((await result("Read", file)).hookSpecificOutput.updatedToolOutput, {
      type: "text",
      file: { filePath: "/a", content: reason, numLines: 1 }
    })
  })

  it("ends the turn if the form is not known, but not for a tool of MCP", async () => {
    const { result } = kit(breaks)
    const ended = await result("Grep", { filenames: ["4711"] })
    assert.isFalse(ended.continue)
    assert.include(ended.stopReason, reason)
    const open = await result("mcp__mail__read", [{ type: "text", text: "4711" }])
    assert.notProperty(open, "continue")
    assert.strictEqual(open.hookSpecificOutput.updatedToolOutput, reason)
  })

  it("can be a text of a hook", async () => {
    const { result } = kit(defineHook({
      name: "cuts",
      postToolCall: () => HookAction.transform({ ok: true, output: "[cut]" })
    }))
    const { updatedToolOutput } = (await result("Bash", command)).hookSpecificOutput
    assert.deepStrictEqual(updatedToolOutput, { ...command, stdout: "[cut]", stderr: "" })
  })
})

describe("the error of a tool", () => {
  it("that a policy changes ends the turn after the calls of the step, in the same agent", async () => {
    const { failure, fire } = kit(Secrets.make(), ["secrets"])
    const inner = { agent_id: "a", agent_type: "helper" }
    assert.deepStrictEqual(await failure("nothing to hide"), {
      hookSpecificOutput: { hookEventName: "PostToolUseFailure" }
    })
    assert.deepStrictEqual(await fire("PostToolBatch"), {})
    await failure(`exit code 3: ${key}`, inner)
    assert.deepStrictEqual(await fire("PostToolBatch"), {})
    const ended = Object(await fire("PostToolBatch", inner))
    assert.isFalse(ended.continue)
    assert.include(ended.stopReason, "a hook changed the error of Bash")
    assert.deepStrictEqual(await fire("PostToolBatch", inner), {})
  })

  it("that a hook aborts at, or that the guard cannot check, ends the turn too", async () => {
    const aborts = defineHook({ name: "aborts", postToolCall: () => HookAction.abort("enough") })
    const { failure, fire } = kit(aborts)
    await failure("broken")
    assert.deepStrictEqual(await fire("PostToolBatch"), { continue: false, stopReason: "enough" })
  })

  it("that another hook changes is read with the change, and so where the gap is accepted", async () => {
    const hides = defineHook({
      name: "hides",
      postToolCall: () => HookAction.transform({ ok: false, error: "see the manual" })
    })
    const policy = { ...hides, kind: "policy" as const }
    for (const { failure, fire } of [kit(hides), kit(policy, ["PostToolUseFailure"])]) {
      assert.strictEqual((await failure("broken")).hookSpecificOutput.additionalContext, "see the manual")
      assert.deepStrictEqual(await fire("PostToolBatch"), {})
    }
  })
})
