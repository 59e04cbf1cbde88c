/** What a provider may return: a program without types, or a vendor that answers anything. */
import { assert, describe, it } from "@effect/vitest"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { Malformed } from "../../../src/data/ProviderError.ts"
import { fromPromise } from "../../../src/port/LlmProvider.ts"
import { assertValid, recording } from "../../support/agent.ts"
import { scripted } from "../../support/model.ts"

const good = { model: "m", text: "hi", toolCalls: [], finishReason: "stop" }
const call = { id: "c", name: "pay", args: {} }
const usage = { inputTokens: 1, outputTokens: 1 }

const answers: ReadonlyArray<readonly [problem: string, answer: unknown]> = [
  ["it is null", null],
  ["it is a string", "hi"],
  ["text is undefined", { ...good, text: undefined }],
  ["text is 3", { ...good, text: 3 }],
  ["model is null", { ...good, model: null }],
  ["finishReason is undefined", { ...good, finishReason: undefined }],
  ["toolCalls is undefined", { ...good, toolCalls: undefined }],
  ["toolCalls is a object", { ...good, toolCalls: {} }],
  ["toolCalls[0] is a string", { ...good, toolCalls: ["pay"] }],
  ["toolCalls[1] is null", { ...good, toolCalls: [call, null] }],
  // oxlint-disable-next-line no-sparse-arrays -- a list with a hole is what this is about
  ["toolCalls[0] is undefined", { ...good, toolCalls: [, call] }],
  ["toolCalls[0].name is 3", { ...good, toolCalls: [{ ...call, name: 3 }] }],
  ["toolCalls[0].id is undefined", { ...good, toolCalls: [{ name: "pay", args: {} }] }],
  ["usage is null", { ...good, usage: null }],
  ["usage.inputTokens is -5", { ...good, usage: { ...usage, inputTokens: -5 } }],
  ["usage.outputTokens is NaN", { ...good, usage: { ...usage, outputTokens: NaN } }],
  ["usage.cacheWriteTokens is -1", { ...good, usage: { ...usage, cacheWriteTokens: -1 } }],
  ["usage.costUsd is -1", { ...good, usage: { ...usage, costUsd: -1 } }],
  ["usage.cachedTokens is Infinity", { ...good, usage: { ...usage, cachedTokens: Infinity } }],
  ["usage.inputTokens is 1e+308", { ...good, usage: { ...usage, inputTokens: 1e308 } }],
  ["usage.outputTokens is 9007199254740992", { ...good, usage: { ...usage, outputTokens: 2 ** 53 } }],
  ["usage.costUsd is 1e+308", { ...good, usage: { ...usage, costUsd: 1e308 } }],
  ["reasoning is a list", { ...good, reasoning: [] }]
]

describe("an answer that is not a response", () => {
  it.each(answers)("is malformed, and nothing of it is believed: %s", async (problem, answer) => {
    const pay = recording("pay")
    const provider = fromPromise({ name: "odd", complete: async () => answer as never })
    const stopping = { name: "stop", onLlmError: () => ({ _tag: "Replace", value: { type: "fail" } }) as const }
    await using agent = createAgent({ provider, tools: [pay.tool], hooks: [stopping] })
    const session = await agent.session()
    const error = await session.run("go").catch((caught: unknown) => caught)
    assert.instanceOf(error, Malformed)
    assert.include(error.message, `odd returned something that is not a response: ${problem}`)
    assert.lengthOf(pay.ran, 0)
    assertValid(session.messages)
    const { inputTokens, outputTokens } = error.partial?.usage ?? { inputTokens: 0, outputTokens: 0 }
    assert.deepStrictEqual({ inputTokens, outputTokens }, { inputTokens: 0, outputTokens: 0 })
  })

  it.each(answers)("is malformed too when hooks check its text first: %s", async (problem, answer) => {
    const provider = fromPromise({ name: "odd", complete: async () => answer as never })
    const seen: Array<unknown> = []
    await using agent = createAgent({
      provider,
      hooks: [{
        name: "check",
        onLlmDelta: (delta) => void seen.push(delta.type === "text" ? delta.text : undefined),
        onLlmError: () => ({ _tag: "Replace", value: { type: "fail" } })
      }]
    })
    const error = await agent.run("go").catch((caught: unknown) => caught)
    assert.instanceOf(error, Malformed)
    assert.include(error.message, `odd returned something that is not a response: ${problem}`)
    for (const text of seen) assert.strictEqual(text, "hi")
  })

  it("leads to another attempt, or to the backup", async () => {
    const odd = fromPromise({ name: "odd", complete: async () => ({ ...good, usage: null }) as never })
    await using agent = createAgent({ provider: [odd, scripted(["from the backup"], { name: "backup" }).provider] })
    assert.strictEqual((await agent.run("go")).text, "from the backup")
  })

  const reports: ReadonlyArray<readonly [what: string, partial: unknown]> = [
    ["a negative usage", { text: "a", usage: { inputTokens: -1e6, outputTokens: -1e6 } }],
    ["a usage of NaN", { text: "a", usage: { inputTokens: NaN, outputTokens: 1 } }],
    ["a usage of text", { text: "a", usage: { inputTokens: "5", outputTokens: "5" } }],
    ["no usage", { text: "a", usage: null }],
    ["a usage without numbers", { text: "a", usage: {} }],
    ["a text", "a"],
    ["null", null]
  ]
  it.each(reports)("does not count for a call that failed either: %s", async (_what, partial) => {
    let calls = 0
    const provider = fromPromise({
      name: "odd",
      complete: async () => {
        if (++calls === 1) throw new Malformed({ provider: "odd", message: "broken", partial: partial as never })
        return { ...good, usage } as never
      }
    })
    await using agent = createAgent({ provider })
    const result = await agent.run("go")
    assert.deepStrictEqual([result.text, result.usage], ["hi", usage])
  })
})
