import { ConfigError } from "@belay/core/AgentError"
import type { AgentEvent } from "@belay/core/AgentEvent"
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import type { Json } from "@belay/core/Json"
import { JsonValue } from "@belay/core/Message"
import { failure, type PostToolCallEvent, success, type ToolResult } from "@belay/core/Tool"
import * as Projection from "@belay/hooks/Projection"
import * as Scripted from "@belay/testing/Scripted"
import { dryRun } from "@belay/testing/TestHook"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Events from "../../../../test/support/events.ts"

/** What becomes of a result of `query`, and what was warned of. */
const project = (
  projections: Projection.Options["projections"],
  result: ToolResult,
  options: Partial<Projection.Options> = {}
) =>
  Effect.promise(async () => {
    const { grant: _grant, tool, ...call } = Events.call("query")
    const hook = Projection.make({ projections, ...options })
    const { event, seen } = await dryRun([hook], "postToolCall", { call, tool, result, executed: true })
    assert.deepEqual(seen.failures, [])
    // The event of this point has the result.
    return { result: (event as PostToolCallEvent).result, warnings: seen.warnings }
  })

const output = (result: ToolResult): Json => result.ok ? result.output : assert.fail(result.error)

describe("Projection", () => {
  it.effect("replaces a result, or a text with JSON, by the value of the expression", () =>
    Effect.gen(function*() {
      const rows = Array.from({ length: 5_000 }, (_, id) => ({ id, secret: "x" }))
      const query = "{rows: rows[0:2].id, truncated: length(rows) > `2`, total: length(rows)}"
      const expected = { rows: [0, 1], truncated: true, total: 5_000 }
      assert.deepEqual(output((yield* project({ query }, success({ rows }))).result), expected)
      assert.deepEqual(output((yield* project({ query }, success(JSON.stringify({ rows })))).result), expected)
    }))

  it.effect("does not change errors or the results of other tools", () =>
    Effect.gen(function*() {
      assert.deepEqual(yield* project({ query: "a" }, failure("{\"a\": 1}")), {
        result: failure("{\"a\": 1}"),
        warnings: []
      })
      assert.deepEqual(yield* project({ "*other": "a" }, success({ a: 1 })), {
        result: success({ a: 1 }),
        warnings: []
      })
      assert.deepEqual(
        yield* project(JSON.parse("{\"__proto__\": \"a\", \"constructor\": \"a\"}"), success({ a: 1 })),
        {
          result: success({ a: 1 }),
          warnings: []
        }
      )
    }))

  it.effect("uses the first name that matches, and a minimum size if one is set", () =>
    Effect.gen(function*() {
      const both = { "que*": "a", query: "b" }
      assert.strictEqual(output((yield* project(both, success({ a: 1, b: 2 }))).result), 1)
      const large = { query: { expression: "a", maxTokens: 10 } }
      assert.deepEqual(output((yield* project(large, success({ a: 1 }))).result), { a: 1 })
      assert.strictEqual(output((yield* project(large, success({ a: 1, b: "x".repeat(100) }))).result), 1)
      const tokenizer = { count: () => 11 }
      assert.strictEqual(output((yield* project(large, success({ a: 1 }), { tokenizer })).result), 1)
    }))

  for (
    const [what, expression, result, why] of [
      ["finds nothing", "nothing.here", { a: 1 }, "the expression finds nothing"],
      ["finds what only a prototype has", "constructor", { a: 1 }, "the expression finds nothing"],
      ["finds a method", "toString", { a: 1 }, "the expression finds nothing"],
      ["breaks", "length(a)", { a: 1 }, "Invalid type: length() expected argument 1"],
      ["meets a text", "a", "just words", "it is a text that is not JSON"],
      ["meets a number beyond numbers", "a", "{\"a\": 1e999}", "$.a is Infinity"],
      ["meets a result that is too deep", "a", "[".repeat(100_000) + "]".repeat(100_000), ""],
      ["computes what is no number", "a / b", { a: 1, b: 0 }, ""]
    ] as const
  ) {
    it.effect(`keeps the result and warns if the expression ${what}`, () =>
      Effect.gen(function*() {
        const answer = yield* project({ query: expression }, success(result))
        assert.deepEqual(answer.result, success(result))
        assert.lengthOf(answer.warnings, 1)
        assert.include(answer.warnings[0], `the result of query was not projected: ${why}`)
      }))
  }

  it.effect("finds fields with the names of a prototype only if the data has them", () =>
    Effect.gen(function*() {
      const data = "{\"constructor\": {\"name\": \"mine\"}, \"__proto__\": {\"admin\": true}, \"toString\": 1}"
      const query = "{a: constructor.name, b: \"__proto__\".admin, c: toString, d: hasOwnProperty, e: keys(@)}"
      assert.deepEqual(output((yield* project({ query }, success(data))).result), {
        a: "mine",
        b: true,
        c: 1,
        d: null,
        e: ["constructor", "__proto__", "toString"]
      })
      assert.strictEqual(({} as { readonly admin?: boolean }).admin, undefined)
    }))

  it.effect.prop(
    "copies any JSON unchanged",
    [JsonValue],
    ([value]) =>
      Effect.gen(function*() {
        const wrapped = { value }
        const answer = yield* project({ query: "{value: value}" }, success(wrapped))
        assert.strictEqual(JSON.stringify(answer.result), JSON.stringify(success(wrapped)))
      }),
    { arbitrary: { runs: 300 } }
  )

  for (
    const [rule, why] of [
      ["rows[", "expected a JMESPath expression"],
      ["", "expected a JMESPath expression"],
      ["nofunction(@)", "unknown function nofunction()"],
      ["{a: b | map(&nofunction(@), c)}", "unknown function nofunction()"],
      [{ expression: "a", maxTokens: -1 }, "maxTokens: expected a whole number from 0"]
    ] as const
  ) {
    it(`refuses ${JSON.stringify(rule)}`, () => {
      assert.throws(() => Projection.make({ projections: { query: rule } }), ConfigError, why)
      assert.throws(
        () => Projection.make({ projections: { query: rule } }),
        ConfigError,
        "projection.projections[\"query\"]"
      )
    })
  }

  it("projects the results of an agent and its sub-agents, also in events and records", async () => {
    const query = defineTool({
      name: "query",
      description: "q",
      input: Schema.Struct({}),
      execute: () => ({ rows: [{ id: 1, note: "do not show" }] })
    })
    const asks = Scripted.toolCalls({ name: "query", id: "q" })
    const inner = Scripted.make([asks, "inner done"])
    const worker = createAgent({ name: "worker", provider: inner, tools: [query] })
    const provider = Scripted.make([asks, Scripted.toolCalls({ name: "work", args: { message: "x" } }), "done"])
    await using agent = createAgent({
      provider,
      tools: [query, agentTool({ name: "work", description: "w", agent: worker })],
      hooks: [Projection.make({ projections: { query: "rows[*].id" } })]
    })
    const events: Array<AgentEvent> = []
    agent.on((event) => void events.push(event))
    const { messages } = await agent.run("go")
    assert.deepEqual(messages.find(({ role }) => role === "tool")?.content, [1])
    assert.deepEqual(inner.requests[1]?.messages.find(({ role }) => role === "tool")?.content, [1])
    assert.notInclude(JSON.stringify([events.filter(({ type }) => type === "tool-end"), messages]), "do not show")
  })
})
