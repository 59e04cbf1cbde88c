/** What entries of Kodelet read at every event, and what each of their answers does, letter by letter. */
import { basename } from "node:path"
import { assert, describe, expect, it } from "vitest"
import { differencesAlone, hasSameConversation, oneSession } from "../../support/alone.ts"
import { effects, forEachEvent, inputs, mainMoments, signalsOf, type World } from "../../support/everything.ts"

const world: World = {
  dialect: "kodelet",
  files: Object.fromEntries(
    Object.keys(forEachEvent("kodelet", () => 0)).map((name) => [`home/.kodelet/hooks/${name}`, "#!/bin/sh\n"])
  ),
  eventOf: ({ args = [], command }) => args[0] === "hook" ? `is ${basename(command)}` : basename(command),
  signals: signalsOf("kodelet")
}

const answers = [
  { blocked: true },
  { blocked: true, reason: "r" },
  { blocked: false, reason: "r" },
  { blocked: "yes" },
  { input: { command: "pwd" } },
  { input: "pwd" },
  { output: "o" },
  { output: 1 },
  { output: { a: 1 } },
  { follow_up_messages: ["more"] },
  { follow_up_messages: [] },
  { follow_up_messages: "more" },
  { follow_up_messages: [1] },
  { result: "compact" },
  { result: "mutate", messages: [{ role: "user", content: "x" }] },
  { result: "mutate", messages: 1 },
  { result: "callback", callback: "look", callback_args: { a: "1" } },
  { result: "other" },
  { result: 1 },
  { unknown: 1 }
]

describe("Kodelet", () => {
  it("tells its entries exactly this", async () => {
    await expect(await inputs(world)).toMatchFileSnapshot("./everything/inputs.txt")
  })

  it("does exactly this with their answers", async () => {
    const at = [...mainMoments, "the end of a step", "a tool that failed", "the end of a turn", "a call of own"]
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
