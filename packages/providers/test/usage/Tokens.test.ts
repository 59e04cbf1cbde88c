import { assistant, user } from "@belay/core/Message"
import * as Tokens from "@belay/providers/Tokens"
import { assert, describe, it } from "@effect/vitest"
import { request } from "../support/support.ts"

const long = "The quick brown fox jumps over the lazy dog. ".repeat(40)

const answered = (
  inputTokens: number | undefined,
  content = long,
  more: Partial<Parameters<Tokens.Corrected["learn"]>[0]> = {}
) => ({
  request: request(content),
  response: {
    model: "m",
    text: "hi",
    toolCalls: [],
    finishReason: "stop" as const,
    ...(inputTokens === undefined ? {} : { usage: { inputTokens, outputTokens: 1 } })
  },
  provider: "p",
  attempt: 1,
  executed: true,
  ...more
})

describe("an estimate", () => {
  it("is near what a real tokenizer counts", () => {
    assert.closeTo(Tokens.estimate.count("The quick brown fox jumps over the lazy dog."), 10, 2)
    assert.closeTo(Tokens.estimate.count("const answer = (question: string): number => question.length * 42"), 15, 5)
  })

  it("of an empty text is zero", () => {
    assert.strictEqual(Tokens.estimate.count(""), 0)
  })

  it("of letters without spaces does not collapse to one token", () => {
    assert.isAbove(Tokens.estimate.count("人工智能正在改变世界"), 5)
  })
})

describe("a corrected tokenizer", () => {
  it("counts like the original until the first call", () => {
    const tokenizer = Tokens.corrected(Tokens.estimate)
    assert.strictEqual(tokenizer.count(long), Tokens.estimate.count(long))
    assert.strictEqual(tokenizer.ratio(), 1)
  })

  it("counts like the vendor after one call", () => {
    const tokenizer = Tokens.corrected(Tokens.estimate)
    const actual = Math.round(Tokens.estimate.count(long) * 1.3)
    tokenizer.learn(answered(actual))
    assert.closeTo(tokenizer.count(long), actual, 1)
  })

  it("replaces an older ratio by a newer one", () => {
    const tokenizer = Tokens.corrected(Tokens.estimate)
    tokenizer.learn(answered(Math.round(Tokens.estimate.count(long) * 1.8)))
    tokenizer.learn(answered(Tokens.estimate.count(long)))
    assert.strictEqual(tokenizer.ratio(), 1)
  })

  it("keeps the ratio between one half and two", () => {
    const tokenizer = Tokens.corrected(Tokens.estimate)
    tokenizer.learn(answered(1_000_000))
    assert.strictEqual(tokenizer.ratio(), 2)
    tokenizer.learn(answered(110, long.repeat(20)))
    assert.strictEqual(tokenizer.ratio(), 0.5)
  })

  it("also learns from instructions, tools and tool calls", () => {
    const tokenizer = Tokens.corrected({ count: (text) => text.length })
    const messages = [user("u".repeat(100)), assistant("", [{ id: "1", name: "t", args: { a: "b".repeat(50) } }])]
    const calls = JSON.stringify(messages[1]?.role === "assistant" ? messages[1].toolCalls : undefined)
    const tools = [{ name: "t", description: "dd", inputSchema: {} }]
    tokenizer.learn(
      answered(100 + calls.length + 10 + 5, "", {
        request: { ...request(), instructions: "i".repeat(10), messages, tools }
      })
    )
    assert.strictEqual(tokenizer.ratio(), 1)
  })

  it("learns nothing from files, small calls, missing usage and answers of hooks", () => {
    const tokenizer = Tokens.corrected(Tokens.estimate)
    const file = user([{ type: "text", text: long }, {
      type: "file",
      mediaType: "image/png",
      url: "data:image/png;base64,AAAA"
    }])
    tokenizer.learn(answered(5000, "", { request: { ...request(), messages: [file] } }))
    tokenizer.learn(answered(99))
    tokenizer.learn(answered(undefined))
    tokenizer.learn(answered(5000, long, { executed: false }))
    assert.strictEqual(tokenizer.ratio(), 1)
  })
})
