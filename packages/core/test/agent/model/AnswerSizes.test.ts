/** Answers of a model that are too large for hooks and stores, which take time for every part of an answer. */
import { assert, describe, it } from "@effect/vitest"
import { cpuMs } from "../../../../../test/support/cpu.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { Limits } from "../../../src/agent/Limits.ts"
import type { Json } from "../../../src/data/Json.ts"
import type { LlmResponse } from "../../../src/data/LlmCall.ts"
import { type ToolMessage } from "../../../src/data/Message.ts"
import { Malformed } from "../../../src/data/ProviderError.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import { assertValid, recording } from "../../support/agent.ts"
import { type Line, scripted } from "../../support/model.ts"

const answer = (more: Partial<LlmResponse>): Partial<LlmResponse> => ({ text: "", toolCalls: [], ...more })
const callsOf = (count: number, args: (index: number) => Json = () => ({})): Partial<LlmResponse> =>
  answer({
    toolCalls: Array.from({ length: count }, (_, index) => ({ id: `c${index}`, name: "act", args: args(index) }))
  })
const object = (keys: number): Json => Object.fromEntries(Array.from({ length: keys }, (_, n) => [`k${n}`, n]))
const deep = (levels: number): Json => {
  let value: Json = 1
  for (let level = 0; level < levels; level++) value = { x: value }
  return value
}

/** Reads everything, as guardrails do. */
const reader = () => {
  const seen: Array<string> = []
  const hook: AgentHook = {
    name: "reader",
    postLlmCall: ({ response }) => void seen.push(JSON.stringify(response)),
    onLlmDelta: (delta) => void seen.push(JSON.stringify(delta)),
    onLlmError: () => ({ _tag: "Replace", value: { type: "fail" } })
  }
  return { hook, seen }
}

const run = async (line: Line, limits: Partial<Limits> = {}, streams = false) => {
  const act = recording("act")
  const { hook, seen } = reader()
  await using agent = createAgent({
    provider: scripted([line], { streams, piece: 100_000 }).provider,
    tools: [act.tool],
    hooks: [hook],
    limits
  })
  const session = await agent.session()
  const result = await session.run("go").catch((error: unknown) => error)
  assertValid(session.messages)
  return { act, messages: session.messages, result, seen }
}

const large: ReadonlyArray<readonly [what: string, line: Partial<LlmResponse>, message: RegExp]> = [
  ["20,000 calls", callsOf(20_000), /it has 20000 tool calls, and at most 1000 are read/],
  ["100,000 keys in arguments", callsOf(1, () => object(100_000)), /calls have more than 50000 values/],
  ["100,000 keys in the arguments of many calls", callsOf(100, () => object(1_000)), /more than 50000 values/],
  ["a million elements in arguments", callsOf(1, () => Array.from({ length: 1_000_000 }, () => 0)), /50000 values/],
  ["6 MB of text", answer({ text: "x".repeat(6_000_000) }), /more than 5000000 characters.*limits\.textLength/],
  ["6 MB of reasoning", answer({ reasoning: "x".repeat(6_000_000) }), /more than 5000000 characters/],
  ["6 MB in arguments", callsOf(2, () => ({ text: "x".repeat(3_000_000) })), /more than 5000000 characters/],
  ["6 MB in keys of arguments", callsOf(1, () => ({ ["x".repeat(6_000_000)]: 1 })), /more than 5000000 characters/],
  [
    "a name of 6 MB",
    answer({ toolCalls: [{ id: "c", name: "n".repeat(6_000_000), args: {} }] }),
    /more than 5000000 characters/
  ]
]

describe("an answer that is too large", () => {
  it.each(large)("is a malformed response before any hook reads it: %s", async (_what, line, message) => {
    const before = cpuMs()
    const { act, result, seen } = await run(line)
    assert.instanceOf(result, Malformed)
    assert.match((result as Malformed).message, /^one returned a response that is too large: /)
    assert.match((result as Malformed).message, message)
    assert.deepStrictEqual(seen, [])
    assert.lengthOf(act.ran, 0)
    assert.isBelow(cpuMs() - before, 1_000)
  })

  it("still counts: the vendor bills it", async () => {
    const { result } = await run({ ...callsOf(20_000), usage: { inputTokens: 7, outputTokens: 9 } })
    assert.instanceOf(result, Malformed)
    const { inputTokens, outputTokens } = (result as Malformed).partial!.usage!
    assert.deepStrictEqual({ inputTokens, outputTokens }, { inputTokens: 7, outputTokens: 9 })
  })

  it("ends its stream as soon as that is known", async () => {
    const { result, seen } = await run(answer({ text: "x".repeat(50_000_000) }), {}, true)
    assert.instanceOf(result, Malformed)
    assert.match((result as Malformed).message, /^one streamed more than 5000000 characters.*limits\.textLength/)
    assert.lengthOf(seen, 50)
  })

  it("is read if the limits of the agent allow it", async () => {
    const text = await run(answer({ text: "x".repeat(6_000_000) }), { textLength: 7_000_000 })
    assert.strictEqual((text.result as { status: string }).status, "completed")
    const calls = await run(callsOf(1_500), { toolCalls: 1_500 })
    assert.lengthOf(calls.act.ran, 1_500)
  })
})

describe("an answer of the greatest size", () => {
  it("of calls runs", async () => {
    const { act } = await run(callsOf(1_000), { toolCalls: 1_000 })
    assert.lengthOf(act.ran, 1_000)
  })

  it("of values runs", async () => {
    const { act } = await run(callsOf(1, () => object(49_999)))
    assert.lengthOf(act.ran, 1)
  })
})

describe("arguments that are not JSON", () => {
  it.each<[string, unknown]>([
    ["nested 10,000 deep", deep(10_000)],
    ["a function", { f: () => 1 }],
    ["not a number", { n: Number.NaN }],
    ["a date", { at: new Date(0) }],
    ["undefined in a list", { list: [undefined] }]
  ])("reach no hook, and the model reads what is wrong: %s", async (_what, args) => {
    const { act, messages, seen } = await run(callsOf(1, () => args as Json))
    assert.lengthOf(act.ran, 0)
    assert.include(seen[0]!, `"args":null`)
    const { content } = messages.find((message): message is ToolMessage => message.role === "tool")!
    assert.match(JSON.stringify(content), /^"the arguments are not valid JSON: \$/)
  })
})
