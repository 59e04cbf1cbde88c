/** Progress of running tools. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { ToolContext } from "../../../src/agent/defineTool.ts"
import type { AgentEvent } from "../../../src/data/AgentEvent.ts"
import { failureOf, line, recording, within } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

/** Runs a tool once. Returns its progress and its result, in order. */
const watch = async (
  execute: (args: object, ctx: ToolContext) => unknown,
  limits: { readonly toolMs?: number } = {}
) => {
  const { tool } = recording("act", execute)
  await using agent = createAgent({ provider: scripted([asks(["act", {}])]).provider, tools: [tool], limits })
  const events: Array<AgentEvent> = []
  const run = agent.stream("go")
  for await (const event of run) events.push(event)
  const { messages } = await run.result
  const seen = events.flatMap((event) => {
    if (event.type === "tool-progress") return [event.value]
    if (event.type === "tool-end") return [{ end: event.result.ok ? event.result.output : event.result.error }]
    return event.type === "warning" ? [{ warning: event.message }] : []
  })
  return { seen, events, text: line(messages) }
}

describe("progress of a tool", () => {
  it("is what an async generator yields; what it returns is the result", async () => {
    const { events, seen, text } = await watch(async function*() {
      yield { done: 1, of: 2 }
      await Promise.resolve()
      yield "almost"
      return { answer: 42 }
    })
    assert.deepStrictEqual(seen, [{ done: 1, of: 2 }, "almost", { end: { answer: 42 } }])
    assert.include(text, `tool act: {"answer":42}`)
    assert.notInclude(text, "almost")
    const progress = events.find((event) => event.type === "tool-progress")
    const start = events.find((event) => event.type === "tool-start")
    assert.deepInclude(progress, { tool: "act", callId: start!.call.id, stepNumber: 1 })
  })

  const expected = ["one", "two", { end: "done" }]
  it("can be reported with ctx.progress, which a tool may take out of its context", async () => {
    assert.deepStrictEqual(
      (await watch((_args, { progress }) => {
        progress("one")
        progress("two")
        return "done"
      })).seen,
      expected
    )
    assert.deepStrictEqual(
      (await watch((_args, ctx) =>
        Effect.gen(function*() {
          ctx.progress("one")
          yield* Effect.promise(() => Promise.resolve())
          ctx.progress("two")
          return "done"
        })
      )).seen,
      expected
    )
  })

  it("is what a generator yields, except Effects, which are run", async () => {
    const { seen } = await watch(function*(): Generator<unknown, unknown, unknown> {
      yield "one"
      yield yield* Effect.succeed("two")
      return yield* Effect.promise(async () => "done")
    })
    assert.deepStrictEqual(seen, expected)
    assert.deepStrictEqual(
      (await watch(function*() {
        yield "one"
        yield* Effect.fail("no")
      })).seen,
      ["one", { end: "no" }]
    )
  })

  it("may come from any async iterable, also from one that a promise or an Effect returns", async () => {
    const values = async function*() {
      yield "one"
      yield "two"
      return "done"
    }
    const iterable = { [Symbol.asyncIterator]: values }
    for (
      const execute of [() => iterable, async () => iterable, () => Effect.succeed(values()), async () => values()]
    ) {
      assert.deepStrictEqual((await watch(execute)).seen, expected)
    }
  })

  it("is written like a result: what cannot be written is a warning, not a failure", async () => {
    const { seen } = await watch(async function*() {
      yield new Map([["at", new Date(0)]])
      yield { f: () => 1 }
      yield undefined
      return "done"
    })
    assert.deepStrictEqual(seen, [
      { at: "1970-01-01T00:00:00.000Z" },
      { warning: "a part of the progress of act is lost: $.f is a function" },
      {},
      null,
      { end: "done" }
    ])
  })

  it("ends when the tool fails: the model reads the error", async () => {
    const { seen } = await watch(async function*() {
      yield "one"
      throw new Error("broken")
    })
    assert.deepStrictEqual(seen, ["one", { end: "broken" }])
  })

  it("is dropped after the tool has ended or timed out", async () => {
    let late: (() => void) | undefined
    const { events, seen } = await watch(async (_args, ctx) => {
      late = () => ctx.progress("late")
      ctx.progress("one")
      return "done"
    })
    const before = events.length
    late!()
    assert.lengthOf(events, before)
    assert.deepStrictEqual(seen, ["one", { end: "done" }])
  })

  it("closes the generator when the tool takes too long", async () => {
    let closed = 0
    const { seen } = await within(
      watch(async function*(_args, { signal }) {
        try {
          yield "one"
          await new Promise((resolve) => signal.addEventListener("abort", resolve))
          yield "late"
        } finally {
          closed++
        }
      }, { toolMs: 20 })
    )
    assert.deepStrictEqual(seen, ["one", { end: "the tool did not answer within 20 ms" }])
    assert.strictEqual(closed, 1)
  })

  it("closes the generator when the run is cancelled", async () => {
    let closed = 0
    const { tool } = recording("act", async function*(_args, { signal }) {
      try {
        yield "one"
        await new Promise((resolve) => signal.addEventListener("abort", resolve))
        yield "late"
      } finally {
        closed++
      }
    })
    await using agent = createAgent({ provider: scripted([asks(["act", {}])]).provider, tools: [tool] })
    const controller = new AbortController()
    const seen: Array<unknown> = []
    agent.on((event) => {
      if (event.type !== "tool-progress") return
      seen.push(event.value)
      controller.abort(new Error("enough"))
    })
    assert.deepInclude(await failureOf(within(agent.run("go", { signal: controller.signal }))), {
      message: "enough"
    })
    await Promise.resolve()
    assert.deepStrictEqual(seen, ["one"])
    assert.strictEqual(closed, 1)
  })

  it("of a sub-agent's tool reaches the listeners of the agent above it", async () => {
    const { tool } = recording("act", async function*() {
      yield "inside"
      return "done"
    })
    await using helper = createAgent({
      name: "helper",
      provider: scripted([asks(["act", {}])]).provider,
      tools: [tool]
    })
    await using lead = createAgent({
      name: "lead",
      provider: scripted([asks(["helper", { message: "go" }])]).provider,
      tools: [agentTool({ name: "helper", description: "Helps", agent: helper })]
    })
    const seen: Array<unknown> = []
    lead.on((event) => event.type === "tool-progress" && seen.push([event.agent, event.tool, event.value]))
    await lead.run("go")
    assert.deepStrictEqual(seen, [["helper", "act", "inside"]])
  })

  it("costs nothing without listeners: the value is not read", async () => {
    let reads = 0
    const { tool } = recording("act", async function*() {
      yield {
        get a() {
          return ++reads
        }
      }
      return "done"
    })
    await using agent = createAgent({ provider: scripted([asks(["act", {}])]).provider, tools: [tool] })
    const { messages } = await agent.run("go")
    assert.include(line(messages), "tool act: done")
    assert.strictEqual(reads, 0)
  })
})
