/** What entries of Claude Code read at every event, and what each of their answers does, letter by letter. */
import { assert, describe, expect, it } from "vitest"
import { differencesAlone, hasSameConversation, oneSession } from "../../support/alone.ts"
import { effects, forEachEvent, inputs, mainMoments, signalsOf, type World } from "../../support/everything.ts"

const world: World = {
  dialect: "claude",
  files: {
    "home/.claude/settings.json": {
      hooks: forEachEvent(
        "claude",
        (name) => ({ hooks: [{ type: "command", command: `run ${name}`, statusMessage: `doing ${name}` }] })
      )
    }
  },
  eventOf: ({ command }) => command.replace(/^run /, ""),
  signals: signalsOf("claude")
}

const answers = [
  { decision: "block" },
  { decision: "block", reason: "r" },
  { decision: "approve", reason: "r" },
  { decision: "other" },
  { decision: 1 },
  { continue: false },
  { continue: false, stopReason: "s" },
  { continue: "no" },
  { systemMessage: "m" },
  { systemMessage: "m", suppressOutput: true },
  { systemMessage: 1 },
  { hookSpecificOutput: { hookEventName: "$E", permissionDecision: "allow" } },
  { hookSpecificOutput: { hookEventName: "$E", permissionDecision: "deny" } },
  { hookSpecificOutput: { hookEventName: "$E", permissionDecision: "deny", permissionDecisionReason: "r" } },
  { hookSpecificOutput: { hookEventName: "$E", permissionDecision: "ask", permissionDecisionReason: "r" } },
  { hookSpecificOutput: { hookEventName: "$E", permissionDecision: "defer" } },
  { hookSpecificOutput: { hookEventName: "$E", permissionDecision: "other" } },
  { hookSpecificOutput: { hookEventName: "$E", updatedInput: { command: "pwd" } } },
  { hookSpecificOutput: { hookEventName: "$E", permissionDecision: "allow", updatedInput: { command: "pwd" } } },
  { hookSpecificOutput: { hookEventName: "$E", permissionDecision: "ask", updatedInput: { command: "pwd" } } },
  { hookSpecificOutput: { hookEventName: "$E", updatedInput: "pwd" } },
  { hookSpecificOutput: { hookEventName: "$E", additionalContext: "c" } },
  { hookSpecificOutput: { hookEventName: "$E", additionalContext: "" } },
  { hookSpecificOutput: { hookEventName: "$E", additionalContext: 1 } },
  { hookSpecificOutput: { hookEventName: "$E", updatedToolOutput: "o" } },
  { hookSpecificOutput: { hookEventName: "$E", updatedMCPToolOutput: { c: 3 } } },
  { hookSpecificOutput: { hookEventName: "$E", decision: { behavior: "allow" } } },
  { hookSpecificOutput: { hookEventName: "$E", decision: { behavior: "allow", updatedInput: { command: "pwd" } } } },
  { hookSpecificOutput: { hookEventName: "$E", decision: { behavior: "deny", message: "m", interrupt: true } } },
  { hookSpecificOutput: { hookEventName: "$E", decision: { behavior: "other" } } },
  { hookSpecificOutput: { hookEventName: "$E", retry: true } },
  { hookSpecificOutput: { hookEventName: "$E", initialUserMessage: "i" } },
  { hookSpecificOutput: { hookEventName: "$E", displayContent: "d" } },
  { hookSpecificOutput: { hookEventName: "$E", sessionTitle: "t" } },
  { hookSpecificOutput: { hookEventName: "Other", additionalContext: "c" } },
  { hookSpecificOutput: 1 },
  { unknown: 1 }
]

describe("Claude Code", () => {
  it("tells its entries exactly this", async () => {
    await expect(await inputs(world)).toMatchFileSnapshot("./everything/inputs.txt")
  })

  it("does exactly this with their answers", async () => {
    const at = [
      ...mainMoments,
      "a question about a call",
      "a tool that failed",
      "a conversation that is compacted",
      "a sub-agent that is about to stop",
      "a call that was denied",
      "a call of mcp",
      "the end of a step",
      "the signal ConfigChange",
      "the signal MessageDisplay",
      "the signal Elicitation"
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
