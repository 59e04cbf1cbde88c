/** What entries of Cursor read at every event, and what each of their answers does, letter by letter. */
import { assert, describe, expect, it } from "vitest"
import { differencesAlone, hasSameConversation, oneSession } from "../../support/alone.ts"
import { effects, forEachEvent, inputs, mainMoments, signalsOf, type World } from "../../support/everything.ts"

const world: World = {
  dialect: "cursor",
  files: {
    "home/.cursor/hooks.json": { version: 1, hooks: forEachEvent("cursor", (name) => ({ command: `run ${name}` })) }
  },
  eventOf: ({ command }) => command.replace(/^run /, ""),
  signals: signalsOf("cursor")
}

const answers = [
  { permission: "allow" },
  { permission: "deny" },
  { permission: "deny", user_message: "u" },
  { permission: "deny", agent_message: "a", user_message: "u" },
  { permission: "ask" },
  { permission: "ask", agent_message: "a", user_message: "u" },
  { permission: "other" },
  { permission: 1 },
  { decision: "deny", reason: "r" },
  { decision: "block", reason: "r" },
  { decision: "approve", reason: "r" },
  { hookSpecificOutput: { decision: "block", reason: "r" } },
  { hookSpecificOutput: { permissionDecision: "deny", permissionDecisionReason: "r" } },
  { hookSpecificOutput: { permissionDecision: "ask", updatedInput: { command: "pwd" } } },
  { userMessage: "u", agentMessage: "a", permission: "deny" },
  { user_message: " ", agent_message: "a", permission: "deny" },
  { followup_message: " ", decision: "block", reason: "r" },
  { continue: false },
  { continue: false, user_message: "u" },
  { continue: true, user_message: "u" },
  { continue: "no" },
  { additional_context: "c" },
  { additional_context: "" },
  { additional_context: 1 },
  { updated_input: { command: "pwd" } },
  { permission: "allow", updated_input: { command: "pwd", path: "b.txt" } },
  { updated_input: "pwd" },
  { updated_mcp_tool_output: { c: 3 } },
  { followup_message: "more" },
  { followup_message: "" },
  { followup_message: 1 },
  { env: { A: "1", B: 2 } },
  { env: "A" },
  { user_message: "u" },
  { agent_message: "a" },
  { unknown: 1 }
]

describe("Cursor", () => {
  it("tells its entries exactly this", async () => {
    await expect(await inputs(world)).toMatchFileSnapshot("./everything/inputs.txt")
  })

  it("does exactly this with their answers", async () => {
    const at = [
      ...mainMoments,
      "a sub-agent that begins",
      "a call of mcp",
      "a result of an MCP tool",
      "the signal beforeTabFileRead"
    ]
    await expect(await effects(world, at, answers)).toMatchFileSnapshot("./everything/effects.txt")
  })

  it("tells entries of one event the same without those of others", async () => {
    assert.deepEqual(await differencesAlone(world), [])
  })

  it("has exactly this conversation of a session", async () => {
    await expect(await oneSession(world)).toMatchFileSnapshot("./everything/session.txt")
    assert.deepEqual(await hasSameConversation(world), [])
  })
})
