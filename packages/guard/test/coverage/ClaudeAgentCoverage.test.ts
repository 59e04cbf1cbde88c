/** What the adapter of the Claude Agent SDK declares, compared with the points that really happen. */
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { assert, describe, it } from "@effect/vitest"
import * as ClaudeAgent from "../../src/ClaudeAgent.ts"
import * as Guard from "../../src/Guard.ts"
import { firing } from "../support/claudeAgent.ts"

describe("the coverage of the Claude Agent SDK", () => {
  it("names every point that happens, and only those", async () => {
    const seen = new Set<string>()
    const places = Guard.make().coverage(ClaudeAgent.driver)
    const points = places.filter(({ place }) => !/^wrap|^reveal|^conceal/.test(place)).map(({ place }) => place)
    const hook = defineHook({
      name: "notes",
      ...Object.fromEntries(points.map((point) => [point, () => void seen.add(point)])),
      preToolCall: ({ name }) => {
        seen.add("preToolCall")
        return name === "Bash" ? HookAction.reject("no commands") : undefined
      }
    })
    const policy: Guard.GuardOptions["policy"] = {
      check: ({ name }) =>
        name === "Write"
          ? { type: "ask", reason: "why", grant: { sandbox: "none" } }
          : { type: "allow", grant: { sandbox: "none" } }
    }
    const fire = firing(ClaudeAgent.make(Guard.make({ hooks: [hook], log: false, policy })).options({}))
    const call = (tool_name: string, tool_input: object, tool_use_id: string) =>
      fire("PreToolUse", { tool_name, tool_input, tool_use_id })
    await fire("UserPromptSubmit", { prompt: "hi" })
    await call("Bash", {}, "1")
    await call("Write", {}, "2")
    await call("Agent", { subagent_type: "explore", prompt: "look" }, "3")
    await fire("SubagentStart", { agent_id: "a", agent_type: "explore" })
    await fire("SubagentStop", { agent_id: "a", agent_type: "explore", last_assistant_message: "seen" })
    await fire("PostToolUse", { tool_name: "Agent", tool_input: {}, tool_use_id: "3", tool_response: "seen" })
    await fire("Stop", { last_assistant_message: "done" })
    await fire("SessionEnd")
    const reached = places.filter(({ reach }) => reach === "enforced" || reach === "observed")
    assert.deepStrictEqual([...seen].toSorted(), reached.map(({ place }) => place).toSorted())
  })
})
