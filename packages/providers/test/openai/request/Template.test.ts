import type { JsonObject } from "@belay/core/Json"
import * as Endpoint from "@belay/testing/Endpoint"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Template from "../../../src/openai/internal/response/template.ts"

const render = (content: string, more: JsonObject = {}) => JSON.stringify({ ...Endpoint.delta({ content }), ...more })
const taught = (data: string, choice: unknown = 0) => {
  const template = Template.make()
  template.learn(data, JSON.parse(data), choice)
  return template
}

describe("a template", () => {
  it.effect.prop(
    "returns the same text as parsing, or nothing",
    [Arbitrary.schema(Schema.String), Arbitrary.schema(Schema.String)],
    ([first, second]) =>
      Effect.sync(() => {
        const text = taught(render(first)).match(render(second))
        if (text !== undefined) assert.strictEqual(text, second)
      })
  )

  it("recognises events like the one it learned", () => {
    assert.strictEqual(taught(render(" one")).match(render(" two three")), " two three")
    assert.strictEqual(
      taught(render("a").replace(`"content":`, `"content": `)).match(render("b").replace(`"content":`, `"content": `)),
      "b"
    )
  })

  const others: Record<string, string> = {
    "another model": render("b", { model: "other" }),
    "a finish reason": JSON.stringify(Endpoint.delta({ content: "b" }, "stop")),
    "usage": render("b", { usage: { prompt_tokens: 1, completion_tokens: 1 } }),
    "a tool call": JSON.stringify(Endpoint.delta({ content: "b", tool_calls: [] })),
    "a quote in its text": render("b\""),
    "a line break in its text": render("b\n"),
    "no text": render("")
  }
  for (const [name, data] of Object.entries(others)) {
    it(`does not recognise an event with ${name}`, () => assert.isUndefined(taught(render("a")).match(data)))
  }

  const lessons: Record<string, string> = {
    "a tool call": JSON.stringify(Endpoint.delta({ content: "a", tool_calls: [{ index: 0 }] })),
    "reasoning": JSON.stringify(Endpoint.delta({ content: "a", reasoning: "so" })),
    "usage": render("a", { usage: { prompt_tokens: 1 } }),
    "an error": render("a", { error: { message: "no" } }),
    "its text twice": JSON.stringify({ choices: [{ index: 0, delta: { content: "a" }, message: { content: "a" } }] }),
    "an escaped letter in its text": render("a\nb"),
    "an escaped quote in its text": render("a\"b"),
    "two choices": JSON.stringify({ choices: [{ index: 0, delta: { content: "a" } }, { index: 1, delta: {} }] }),
    "another choice": JSON.stringify({ choices: [{ index: 1, delta: { content: "a" } }] })
  }
  for (const [name, data] of Object.entries(lessons)) {
    it(`learns nothing from an event with ${name}`, () => assert.isUndefined(taught(data).match(data)))
  }
})
