import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Message from "../../src/data/Message.ts"
import * as Usage from "../../src/data/Usage.ts"

const call = (id: string): Message.ToolCall => ({ id, name: "read", args: {} })
const result = (toolCallId: string): Message.ToolMessage => ({
  role: "tool",
  toolCallId,
  toolName: "read",
  content: "ok"
})

/** Sound transcripts: turns of a user message, steps with up to three tools, and a last answer. */
const transcripts = Arbitrary.map(
  Arbitrary.schema(Schema.Array(Schema.Array(Schema.Literals([0, 1, 2, 3])))),
  (turns): ReadonlyArray<Message.Message> =>
    turns.flatMap((steps, turn) => [
      Message.user("do it"),
      ...steps.flatMap((tools, step) => {
        const ids = Array.from({ length: tools }, (_, index) => `${turn}.${step}.${index}`)
        return [Message.assistant("", ids.map(call)), ...ids.map(result)]
      }),
      Message.assistant("done")
    ])
)

describe("whyInvalid", () => {
  it.prop(
    "finds no problem in a valid transcript",
    [transcripts],
    ([messages]) => Message.whyInvalid(messages) === undefined
  )

  it.prop(
    "finds every tool message that was taken out, doubled or moved",
    [transcripts, Schema.Int],
    ([messages, pick]) => {
      const at = messages.flatMap((message, index) => message.role === "tool" ? [index] : [])
      if (at.length === 0) return true
      const index = at[Math.abs(pick) % at.length]!
      const one = messages[index]!
      const without = messages.toSpliced(index, 1)
      return [without, messages.toSpliced(index, 0, one), [...without, one], [one, ...without]].every((broken) =>
        Message.whyInvalid(broken) !== undefined
      )
    }
  )

  it.each<readonly [ReadonlyArray<Message.Message>, string]>([
    [[result("a")], "message 0: result of a follows no tool call"],
    [[Message.assistant("", [call("a")])], "tool call a has no result"],
    [[Message.assistant("", [call("a")]), Message.user("next")], "message 1: tool call a has no result"],
    [
      [Message.assistant("", [call("a"), call("b")]), result("b"), result("a")],
      "message 1: expected the result of a, found b"
    ],
    [[Message.assistant("", [call("a")]), result("a"), result("a")], "message 2: result of a follows no tool call"],
    [[Message.assistant("", [call("a"), call("a")])], "message 0: tool call id a is used twice"],
    [
      [Message.assistant("", [call("a")]), result("a"), Message.assistant("", [call("a")]), result("a")],
      "message 2: tool call id a is used twice"
    ]
  ])(
    "says what is wrong with a broken one (%#)",
    (messages, why) => assert.strictEqual(Message.whyInvalid(messages), why)
  )
})

describe("a message", () => {
  it("has a text for any kind of content", () => {
    assert.strictEqual(Message.text(Message.user("hi")), "hi")
    assert.strictEqual(
      Message.text(
        Message.user([{ type: "text", text: "a" }, { type: "file", mediaType: "image/png", url: "data:," }, {
          type: "text",
          text: "b"
        }])
      ),
      "ab"
    )
    assert.strictEqual(Message.text({ ...result("a"), content: { n: 1 } }), "{\"n\":1}")
    assert.strictEqual(Message.text(Message.assistant("said")), "said")
  })

  it("of an assistant has no empty list of calls", () => assert.notProperty(Message.assistant("x", []), "toolCalls"))

  it.prop("goes through JSON unchanged", [Message.Message], ([message]) => {
    // JSON has one zero only: -0 comes back as 0.
    const text = JSON.stringify(Schema.encodeSync(Message.Message)(message))
    // Node 24's JSON.parse now and then takes the key "\u0000" for "\\": what it misreads is not ours.
    if (JSON.stringify(JSON.parse(text)) !== text) return true
    const back = Schema.decodeUnknownSync(Message.Message)(JSON.parse(text))
    return JSON.stringify(Schema.encodeSync(Message.Message)(back)) === text
  })
})

describe("Usage.add", () => {
  const counts = Schema.Struct({
    ...Usage.Usage.fields,
    inputTokens: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1e9 })),
    outputTokens: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1e9 })),
    cachedTokens: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1e9 }))),
    cacheWriteTokens: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1e9 }))),
    reasoningTokens: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1e9 }))),
    billableOutputTokens: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1e9 }))),
    costUsd: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1e6 })))
  })
  const same = (a: Usage.Usage, b: Usage.Usage) => assert.deepEqual(a, b)

  it.prop("adds in any order, and nothing to zero", [counts, counts, counts], ([a, b, c]) => {
    same(Usage.add(a, b), Usage.add(b, a))
    same(Usage.add(Usage.add(a, b), c), Usage.add(a, Usage.add(b, c)))
    same(Usage.add(Usage.zero, a), a)
    return true
  })

  it("keeps unreported numbers absent: unknown does not mean zero", () => {
    const sum = Usage.add({ inputTokens: 1, outputTokens: 2 }, { inputTokens: 3, outputTokens: 4, cachedTokens: 5 })
    assert.deepEqual(sum, { inputTokens: 4, outputTokens: 6, cachedTokens: 5 })
    assert.notProperty(sum, "costUsd")
  })
})
