/** What entries of Base Coat read at every event, and what each of their answers does, letter by letter. */
import { assert, describe, expect, it } from "vitest"
import { differencesAlone, hasSameConversation, oneSession } from "../../support/alone.ts"
import { effects, forEachEvent, inputs, mainMoments, signalsOf, type World } from "../../support/everything.ts"

const world: World = {
  dialect: "basecoat",
  files: {
    "project/hooks.json": {
      version: 1,
      hooks: forEachEvent("basecoat", (name) => ({ command: `run ${name}`, priority: 1 }))
    }
  },
  eventOf: ({ command }) => command.replace(/^run /, ""),
  signals: signalsOf("basecoat")
}

const answers = [
  { action: "continue" },
  { action: "allow" },
  { action: "block" },
  { action: "block", reason: "r" },
  { action: "block", reason: 1 },
  { action: "modify", modifiedInput: { command: "pwd" } },
  { action: "modify", modifiedInput: "pwd" },
  { action: "modify", modifiedOutput: "o" },
  { action: "modify" },
  { action: "injectContext", additionalContext: ["c", "d"] },
  { action: "injectContext", additionalContext: "c" },
  { action: "injectContext", additionalContext: [1] },
  { action: "injectContext" },
  { action: "warn", message: "m" },
  { action: "rotate" },
  { action: "other" },
  { action: 1 },
  { additionalContext: ["c"] },
  { userMessage: "u" },
  { unknown: 1 }
]

describe("Base Coat", () => {
  it("tells its entries exactly this", async () => {
    await expect(await inputs(world)).toMatchFileSnapshot("./everything/inputs.txt")
  })

  it("does exactly this with their answers", async () => {
    const at = [
      ...mainMoments,
      "a tool that failed",
      "a budget that is used up",
      "a conversation that is compacted",
      "a conversation that was compacted",
      "a session that ends"
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
