/** What a cancelled turn had said reaches the program that cancelled it, and nobody else. */
import { assert, describe, it } from "@effect/vitest"
import { inspect } from "node:util"
import { createAgent } from "../../../src/agent/createAgent.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { failureOf } from "../../support/agent.ts"
import { scripted } from "../../support/model.ts"

/** Cancels an agent whose hook waits for another agent, which has the signal of the hook. */
const cancelWithin = async (message: string) => {
  const controller = new AbortController()
  const guard = createAgent({
    provider: scripted(["never"]).provider,
    hooks: [{
      name: "slow",
      preLlmCall: () => {
        setTimeout(() => controller.abort(), 0)
        return new Promise<undefined>(() => {})
      }
    }]
  })
  const errors: Array<unknown> = []
  const reasons: Array<unknown> = []
  const lead = createAgent({
    provider: scripted(["hello"]).provider,
    hooks: [{
      name: "ask-the-guard",
      preTurn: async ({ message: asked }, { signal }) => {
        errors.push(await failureOf(guard.run(asked, { signal })))
        reasons.push(signal.reason)
      }
    }]
  })
  await failureOf(lead.run(message, { signal: controller.signal }))
  await new Promise((resolve) => setTimeout(resolve, 1))
  return { error: errors[0], reason: reasons[0] }
}

const print = (value: unknown): string => inspect(value, { depth: 9 })

describe("the partial result of a cancelled turn", () => {
  it("is not seen by other conversations whose hooks pass their signal on to another agent", async () => {
    const first = await cancelWithin("the first message")
    const second = await cancelWithin("the second message")
    for (const error of [first.error, second.error]) assert.propertyVal(error, "name", "AbortError")
    assert.include(print(first.error), "the first message")
    assert.include(print(second.error), "the second message")
    assert.notInclude(print(second), "the first message")
    assert.notInclude(print(first), "the second message")
  })
})

describe("the partial result of a turn that a hook rejected before it began", () => {
  it("has no text, although an earlier turn has said something", async () => {
    await using agent = createAgent({
      provider: scripted(["hello"]).provider,
      hooks: [{ name: "no", preTurn: ({ message }) => message === "bad" ? HookAction.reject("bad") : undefined }]
    })
    const session = await agent.session()
    await session.run("good")
    assert.deepInclude((await failureOf(session.run("bad")))["partial"], { text: "", messages: session.messages })
  })
})
