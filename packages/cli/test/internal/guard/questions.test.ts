/** What a person has answered is inferred from the later events of the system. */
import { type AgentHook, defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { Json, JsonObject } from "@belay/core/Json"
import * as Guard from "@belay/guard/Guard"
import { named } from "@belay/hook-files/Wires"
import * as Approval from "@belay/hooks/Approval"
import { assert, describe, it } from "vitest"
import { drive } from "../../../src/internal/guard/run/drive.ts"
import { occasionOf } from "../../../src/internal/guard/run/occasion.ts"
import type { Said } from "../../../src/internal/guard/run/said.ts"

const systemWith = (system: string, ...hooks: ReadonlyArray<AgentHook>) => {
  const wire = named(system)!
  const guard = Guard.make({ hooks, log: false })
  return async (event: string, fields: JsonObject = {}): Promise<Said> => {
    const payload = { session_id: "s", sessionId: "s", ...fields }
    return await drive({ wire, guard, id: `${system}.s` }, occasionOf(wire, JSON.stringify(payload), event))
  }
}

const shell = { command: "make deploy" }
const calls = {
  gemini: ["BeforeTool", "AfterTool", { tool_name: "run_shell_command", tool_input: shell }],
  factory: ["PreToolUse", "PostToolUse", { tool_name: "Execute", tool_input: shell }],
  copilot: ["preToolUse", "postToolUse", { toolName: "bash", toolArgs: JSON.stringify(shell) }],
  cursor: ["beforeShellExecution", "postToolUse", { ...shell, tool_name: "Shell", tool_input: shell }]
} as const

describe.each(Object.entries(calls))("calls without an id in %s", (system, [before, after, call]) => {
  it("are asked about each time, also if they are equal and one has no result", async () => {
    const send = systemWith(system, Approval.make({ tools: "Bash" }))
    for (let time = 0; time < 4; time++) {
      assert.deepStrictEqual(await send(before, call), { ask: "Bash needs approval" })
    }
    assert.deepStrictEqual(await send(after, call), {})
    assert.deepStrictEqual(await send(before, call), { ask: "Bash needs approval" })
  })

  it("are shown to hooks each time, also if no result is reported", async () => {
    let count = 0
    const limit = defineHook({
      name: "limit",
      preToolCall: () => ++count > 2 ? HookAction.reject("at most two calls") : undefined
    })
    const send = systemWith(system, limit)
    for (let time = 0; time < 2; time++) assert.deepStrictEqual(await send(before, call), {})
    assert.deepStrictEqual(await send(before, call), { deny: "at most two calls" })
  })
})

describe("a call that ran although nobody could approve it", () => {
  it.each(
    [
      ["only some people may", { approvers: ["ada"] }],
      ["two people have to", { quorum: 2 }],
      ["it has to be edited", { allowed: ["edit", "deny"] }]
    ] as const
  )("has a result that hooks check, and counts as no approval: %s", async (_, options) => {
    const results: Array<Json> = []
    const checking = defineHook({ name: "results", postToolCall: ({ result }) => void results.push(result) })
    const send = systemWith("claude", Approval.make({ tools: "Deploy", ...options }), checking)
    const call = (id: string) => ({ tool_name: "Deploy", tool_input: {}, tool_use_id: id })
    assert.match((await send("PreToolUse", call("1"))).deny ?? "", /^Deploy needs approval/)
    assert.deepStrictEqual(await send("PostToolUse", { ...call("1"), tool_response: "done" }), {})
    assert.deepStrictEqual(results, [{ ok: true, output: "done" }])
    assert.match((await send("PreToolUse", call("2"))).deny ?? "", /^Deploy needs approval/)
  })
})
