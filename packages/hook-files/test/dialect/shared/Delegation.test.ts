/** Calls of tools that delegate to another agent. */
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { calls, scripted } from "../../../../../test/support/agent.ts"
import { place } from "../../support/places.ts"
import { write } from "../../support/processes.ts"

describe("a delegation", () => {
  for (const matcher of ["Task", "Agent", "delegate_to_explore"]) {
    it(`is the tool Agent with subagent_type and prompt for the matcher ${matcher}`, { timeout: 60_000 }, async () => {
      const { cwd, home, load, root } = place()
      const log = join(root, "log")
      const command = `cat > ${log}; echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":` +
        `{"subagent_type":"explore","prompt":"look twice"}}}'`
      const hooks = { PreToolUse: [{ matcher, hooks: [{ type: "command", command }] }] }
      write(join(home, ".claude/settings.json"), JSON.stringify({ hooks }))
      const worker = scripted([{ text: "found" }])
      const { provider } = scripted([calls(["delegate_to_explore", { message: "look" }]), { text: "done" }])
      const explore = createAgent({ name: "explore", provider: worker.provider })
      await using agent = createAgent({
        provider,
        cwd,
        hooks: load().hooks,
        tools: [agentTool({ name: "delegate_to_explore", description: "Looks", agent: explore })]
      })
      assert.strictEqual((await agent.run("go")).status, "completed")
      const told = JSON.parse(readFileSync(log, "utf8"))
      assert.strictEqual(told.tool_name, "Agent")
      assert.deepEqual(told.tool_input, { subagent_type: "explore", description: "Looks", prompt: "look" })
      assert.include(JSON.stringify(worker.requests[0]), "look twice")
    })
  }
})
