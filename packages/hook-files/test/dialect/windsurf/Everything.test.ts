/** What entries of Windsurf read at every event, and what each of their answers does, letter by letter. */
import { assert, describe, expect, it } from "vitest"
import { differencesAlone, hasSameConversation, oneSession } from "../../support/alone.ts"
import { effects, forEachEvent, inputs, mainMoments, signalsOf, type World } from "../../support/everything.ts"

const world: World = {
  dialect: "windsurf",
  files: {
    "home/.codeium/windsurf/hooks.json": {
      hooks: forEachEvent("windsurf", (name) => ({ command: `run ${name}`, show_output: true }))
    }
  },
  eventOf: ({ args = [], command }) => /run (\w+)/.exec([command, ...args].join(" "))?.[1],
  signals: signalsOf("windsurf")
}

const answers = [
  { decision: "block", reason: "r" },
  { unknown: 1 }
]

describe("Windsurf", () => {
  it("tells its entries exactly this", async () => {
    await expect(await inputs(world)).toMatchFileSnapshot("./everything/inputs.txt")
  })

  it("does exactly this with their answers", async () => {
    const at = [
      ...mainMoments,
      "a call of read",
      "a call of edit",
      "a call of mcp",
      "a result of read",
      "a result of edit",
      "the end of a turn"
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
