/** What entries of GitHub Copilot read at every event, and what each of their answers does, letter by letter. */
import { assert, describe, expect, it } from "vitest"
import { differencesAlone, hasSameConversation, oneSession } from "../../support/alone.ts"
import { effects, forEachEvent, inputs, mainMoments, signalsOf, type World } from "../../support/everything.ts"

const world: World = {
  dialect: "copilot",
  files: {
    "home/.copilot/hooks/a.json": { version: 1, hooks: forEachEvent("copilot", (name) => ({ bash: `run ${name}` })) }
  },
  eventOf: ({ command }) => command.replace(/^run /, ""),
  signals: signalsOf("copilot")
}

const answers = [
  { permissionDecision: "allow" },
  { permissionDecision: "deny" },
  { permissionDecision: "deny", permissionDecisionReason: "r" },
  { permissionDecision: "ask", permissionDecisionReason: "r" },
  { permissionDecision: "other" },
  { permissionDecision: 1 },
  { modifiedArgs: { command: "pwd" } },
  { permissionDecision: "ask", modifiedArgs: { command: "pwd" } },
  { modifiedArgs: "pwd" },
  { modifiedPrompt: "p" },
  { modifiedPrompt: 1 },
  { modifiedTransformedPrompt: "t" },
  { modifiedResult: { textResultForLlm: "t", resultType: "success" } },
  { modifiedResult: { textResultForLlm: "t", resultType: "failure" } },
  { modifiedResult: "t" },
  { additionalContext: "c" },
  { additionalContext: "" },
  { additionalContext: 1 },
  { decision: "block" },
  { decision: "block", reason: "r" },
  { decision: "allow" },
  { decision: 1 },
  { behavior: "allow" },
  { behavior: "deny", message: "m", interrupt: true },
  { behavior: "other" },
  { errorHandling: "retry" },
  { errorHandling: "skip" },
  { errorHandling: "abort" },
  { errorHandling: "other" },
  { suppressOutput: true },
  { userNotification: "u" },
  { continue: false, stopReason: "s" },
  { systemMessage: "m" },
  { unknown: 1 }
]

describe("GitHub Copilot", () => {
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
      "a model that fails",
      "a sub-agent that begins",
      "a call of mcp"
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
