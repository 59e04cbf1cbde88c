/** Models that take over from each other in one turn. */
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider"
import { defineHook } from "@belay/core/AgentHook"
import { assert, describe, it } from "@effect/vitest"
import { MockLanguageModelV4 } from "ai/test"
import * as AiSdk from "../src/AiSdk.ts"
import * as Guard from "../src/Guard.ts"
import * as Mastra from "../src/Mastra.ts"
import { says, scripted } from "./support/model.ts"

const inAiSdk = (guard: Guard.Guard, models: ReadonlyArray<LanguageModelV4>): ReadonlyArray<LanguageModelV4> =>
  models.map(AiSdk.make(guard).model)

const inMastra = (guard: Guard.Guard, models: ReadonlyArray<LanguageModelV4>): ReadonlyArray<LanguageModelV4> =>
  Mastra.make(guard).config({ model: models.map((model) => ({ model })) }).model.map(({ model }) => model)

const ask = (text: string): LanguageModelV4CallOptions => ({
  prompt: [{ role: "user", content: [{ type: "text", text }] }]
})

describe.each([["the AI SDK", inAiSdk], ["Mastra", inMastra]])("a model that takes over in %s", (_name, wrapped) => {
  it("continues the turn of the one that has failed, and the next message begins another", async () => {
    const turns: Array<string> = []
    const notes = defineHook({ name: "notes", preTurn: ({ message }) => void turns.push(message) })
    const broken = new MockLanguageModelV4({ doGenerate: () => Promise.reject(new Error("no model")) })
    const [first, other] = wrapped(Guard.make({ hooks: [notes], log: false }), [broken, scripted(says("a"), says("b"))])
    const error: unknown = await first!.doGenerate(ask("go")).then(() => undefined, (cause: unknown) => cause)
    assert.include(String(error), "no model")
    await other!.doGenerate(ask("go"))
    assert.deepStrictEqual(turns, ["go"])
    await other!.doGenerate(ask("more"))
    assert.deepStrictEqual(turns, ["go", "more"])
  })
})
