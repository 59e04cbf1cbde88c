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
    it(`is the tool Agent with subagent_type and prompt for the matcher ${matcher}`, async () => {
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

  it("is not a message to an agent that works in the background", async () => {
    const { cwd, home, load, root } = place()
    const log = join(root, "log")
    const hooks = { PreToolUse: [{ hooks: [{ type: "command", command: `cat >> ${log}; echo >> ${log}` }] }] }
    write(join(home, ".claude/settings.json"), JSON.stringify({ hooks }))
    const { provider } = scripted([
      calls(["explore", { message: "look" }]),
      calls(["message_agent", { id: "agent_1", message: "hurry" }]),
      { text: "done" },
      { text: "done" }
    ])
    const explore = createAgent({ name: "explore", provider: scripted([{ text: "found" }]).provider })
    await using agent = createAgent({
      provider,
      cwd,
      hooks: load().hooks,
      tools: [agentTool({ name: "explore", description: "Looks", agent: explore, background: true })]
    })
    await agent.run("go")
    const told = readFileSync(log, "utf8").split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))
    assert.deepEqual(told.map(({ tool_name }) => tool_name).slice(0, 2), ["Agent", "message_agent"])
    assert.deepEqual(told[1].tool_input, { id: "agent_1", message: "hurry" })
  })
})
