/** The models that hooks ask with `ctx.llm` in another SDK. */
import { defineHook } from "@belay/core/AgentHook"
import * as Awaitable from "@belay/core/Awaitable"
import * as HookAction from "@belay/core/HookAction"
import type { LlmRequest } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import type { SideRequest } from "@belay/core/SideRequest"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import * as Guard from "../src/Guard.ts"

/** A model that says its name, and notes what it was asked. */
const model = (name: string, asked: Array<LlmRequest>, own?: string): LlmProvider => ({
  name: "demo",
  ...(own === undefined ? {} : { model: own }),
  complete: (request) =>
    Effect.sync(() => {
      asked.push(request)
      return { model: name, text: name, toolCalls: [], finishReason: "stop" }
    })
})

/** Asks with `ctx.llm` before each call, and rejects the call with the answer. */
const judge = (request: SideRequest) =>
  defineHook({
    name: "judge",
    kind: "policy",
    preToolCall: async (_call, ctx) => HookAction.reject((await ctx.llm(request)).text)
  })

const reasonOf = async (options: Guard.GuardOptions): Promise<string> => {
  const verdict = await Guard.make({ log: false, ...options }).session().toolCall({ id: "1", name: "pay", args: {} })
  return verdict.type === "deny" ? verdict.reason : verdict.type
}

describe("the models of a guard", () => {
  it("answer hooks: the first one, or the one that a hook names", async () => {
    const asked: Array<LlmRequest> = []
    const models = { quick: model("quick", asked, "quick-1"), strong: model("strong", asked) }
    assert.strictEqual(await reasonOf({ models, hooks: [judge({ prompt: "fine?" })] }), "quick")
    const more = { prompt: [{ role: "user" as const, content: "sure?" }], instructions: "Be strict." }
    const parameters = { maxTokens: 5 }
    assert.strictEqual(await reasonOf({ models, hooks: [judge({ ...more, parameters, model: "strong" })] }), "strong")
    assert.deepStrictEqual(asked, [
      { messages: [{ role: "user", content: "fine?" }], tools: [], parameters: {}, model: "quick-1" },
      { messages: more.prompt, tools: [], parameters, instructions: "Be strict." }
    ])
  })

  it("are named where a hook asks one that is not there, and no other model answers", async () => {
    const asked: Array<LlmRequest> = []
    for (const name of ["strnog", "toString"]) {
      const models = { quick: model("quick", asked), strong: model("strong", asked) }
      const reason = await reasonOf({ models, hooks: [judge({ prompt: "fine?", model: name })] })
      assert.include(reason, `ctx.llm of judge: no model is named "${name}": the models are quick, strong`)
    }
    assert.include(await reasonOf({ models: {}, hooks: [judge({ prompt: "fine?" })] }), "the models are none")
    assert.include(await reasonOf({ hooks: [judge({ prompt: "fine?" })] }), "the guard has no model")
    assert.isEmpty(asked)
  })

  it("are refused at once if they are not models, as are prices that are not prices", () => {
    assert.throws(() => Guard.make({ modles: {} } as never), /guard.modles: .* did you mean "models"/)
    assert.throws(() => Guard.make({ models: { quick: {} as never } }), /guard.models.quick: expected .* complete/)
    assert.throws(() => Guard.make({ prices: {} as never }), /guard.prices: expected an object with costOf/)
  })

  it("may be a function of the program", async () => {
    const llm: NonNullable<Guard.GuardOptions["llm"]> = ({ prompt }, hook) =>
      Awaitable.make(
        Effect.succeed({
          model: "own",
          text: `${hook}: ${JSON.stringify(prompt)}`,
          toolCalls: [],
          finishReason: "stop"
        })
      )
    assert.strictEqual(await reasonOf({ llm, hooks: [judge({ prompt: "fine?" })] }), `judge: "fine?"`)
  })
})
