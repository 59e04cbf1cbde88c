/** What entries of Factory Droid read at every event, and what each of their answers does, letter by letter. */
import { assert, describe, expect, it } from "vitest"
import { differencesAlone, hasSameConversation, oneSession } from "../../support/alone.ts"
import { effects, forEachEvent, inputs, mainMoments, signalsOf, type World } from "../../support/everything.ts"

const world: World = {
  dialect: "factory",
  files: {
    "home/.factory/settings.json": {
      hooks: forEachEvent(
        "factory",
        (name) => ({ hooks: [{ type: "command", command: `run ${name}`, statusMessage: `doing ${name}` }] })
      )
    }
  },
  eventOf: ({ command }) => command.replace(/^run /, ""),
  signals: signalsOf("factory")
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
  { hookSpecificOutput: { hookEventName: "$E", updatedMCPToolOutput: { c: 3 } } }
]

describe("Factory Droid", () => {
  it("tells its entries exactly this", async () => {
    await expect(await inputs(world)).toMatchFileSnapshot("./everything/inputs.txt")
  })

  it("does exactly this with their answers", async () => {
    const at = [...mainMoments, "a conversation that is compacted", "a sub-agent that is about to stop"]
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
