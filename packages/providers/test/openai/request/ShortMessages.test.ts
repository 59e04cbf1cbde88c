/** Short messages are written without a cache. Their text is the same as that of long ones. */
import type { Message } from "@belay/core/Message"
import { assert, describe, it } from "@effect/vitest"
import { defaults } from "../../../src/openai/internal/request/compat.ts"
import { renderer } from "../../../src/openai/internal/request/message.ts"

const texts = [
  "",
  "go",
  `"quoted"\n\u2028`,
  "half a pair \ud800",
  "\udfff",
  "\\ud83d",
  "__proto__",
  ...[998, 999, 1_000, 1_001].map((length) => "x".repeat(length)),
  `${"x".repeat(2_000)}\ud800`
]
const ids = ["call_1", "", "a/b c", "x".repeat(60)]

const wire = (message: Message, toolResultName = false): unknown => {
  const text = renderer("vendor", { ...defaults, toolResultName })(message)
  const value: unknown = JSON.parse(text)
  assert.strictEqual(JSON.stringify(value), text)
  return value
}

describe("the text of a message", () => {
  it("is its role and its content, for a user and an assistant", () => {
    for (const content of texts) {
      for (const role of ["user", "assistant"] as const) {
        assert.deepStrictEqual(wire({ role, content }), { role, content: content.toWellFormed() })
      }
    }
  })

  it("of a tool is the same with and without a name, apart from the name", () => {
    for (const content of [...texts, 0, -1.5, true, null, { a: 1 }]) {
      for (const toolCallId of ids) {
        const message: Message = { role: "tool", toolCallId, toolName: "add", content }
        const { name, ...rest } = wire(message, true) as { readonly name?: string }
        assert.strictEqual(name, "add")
        assert.deepStrictEqual(wire(message), rest)
      }
    }
  })

  it("has calls, reasoning and what the vendor wants back, however short it is", () => {
    const toolCalls = [{ id: "call_1", name: "add", args: { a: 1 } }]
    const metadata = { vendor: { reasoningField: "reasoning_content", extra_content: { seal: 1 } } }
    assert.deepStrictEqual(wire({ role: "assistant", content: "", toolCalls, reasoning: "so", metadata }), {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "call_1", type: "function", function: { name: "add", arguments: `{"a":1}` } }],
      reasoning_content: "so",
      extra_content: { seal: 1 }
    })
    assert.deepStrictEqual(wire({ role: "assistant", content: "a", metadata }), {
      role: "assistant",
      content: "a",
      extra_content: { seal: 1 }
    })
  })
})
