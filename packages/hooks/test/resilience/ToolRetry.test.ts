import { ConfigError } from "@belay/core/AgentError"
import * as AgentRuntime from "@belay/core/AgentRuntime"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import * as Timeouts from "@belay/hooks/Timeouts"
import * as ToolRetry from "@belay/hooks/ToolRetry"
import * as Scripted from "@belay/testing/Scripted"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"

/** A tool that fails with these errors, one after the other, and then succeeds. */
const flaky = (
  name: string,
  errors: ReadonlyArray<string>,
  about: { readonly idempotent?: boolean; readonly readOnly?: boolean } = {}
) => {
  const made = { tries: 0 }
  const tool = defineTool({
    name,
    description: name,
    input: Schema.Struct({}),
    ...about,
    execute: () => {
      const error = errors[made.tries++]
      if (error !== undefined) throw new Error(error)
      return "fine"
    }
  })
  return { tool, made }
}

/** Runs one call of each tool; says what the model read, and when. */
const run = (options: ToolRetry.Options, tools: ReadonlyArray<ReturnType<typeof flaky>["tool"]>, wait = 0) =>
  Effect.gen(function*() {
    const provider = Scripted.make([Scripted.toolCalls(...tools.map(({ name }) => ({ name }))), "done"])
    const runtime = yield* AgentRuntime.make({
      provider,
      tools,
      hooks: [ToolRetry.make({ jitter: "none", ...options })]
    })
    const fiber = yield* Effect.forkChild(runtime.run("go"), { startImmediately: true })
    if (wait > 0) {
      yield* TestClock.adjust(wait - 1)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(1)
    }
    const { messages } = yield* Fiber.join(fiber)
    return messages.flatMap((message) => message.role === "tool" ? [message.content] : [])
  })

describe("ToolRetry", () => {
  it.effect("retries only tools that declare to be safe, after growing delays", () =>
    Effect.gen(function*() {
      const reads = flaky("reads", ["busy", "busy"], { readOnly: true })
      const repeats = flaky("repeats", ["busy"], { idempotent: true })
      const acts = flaky("acts", ["busy"])
      assert.deepEqual(yield* run({}, [reads.tool, repeats.tool, acts.tool], 3_000), ["fine", "fine", "busy"])
      assert.deepEqual([reads.made.tries, repeats.made.tries, acts.made.tries], [3, 2, 1])
    }))

  it.effect("stops after the last retry, and gives the model the last error", () =>
    Effect.gen(function*() {
      const { made, tool } = flaky("reads", ["one", "two", "three", "four"], { readOnly: true })
      assert.deepEqual(yield* run({ maxRetries: 2, backoff: "constant", initialDelayMs: 10 }, [tool], 20), ["three"])
      assert.strictEqual(made.tries, 3)
      const never = flaky("reads", ["one"], { readOnly: true })
      assert.deepEqual(yield* run({ maxRetries: 0 }, [never.tool]), ["one"])
    }))

  it.effect("retries only the tools and errors of the options", () =>
    Effect.gen(function*() {
      const quick = { initialDelayMs: 0, idempotentOnly: false }
      const [search, other] = [flaky("search_web", ["502 Bad Gateway"]), flaky("other", ["502 Bad Gateway"])]
      assert.deepEqual(yield* run({ ...quick, tools: "search_*" }, [search.tool, other.tool]), [
        "fine",
        "502 Bad Gateway"
      ])
      const patterns = { ...quick, retryOn: ["(?i)timed? ?out", "\\b50[234]\\b"] }
      assert.deepEqual(
        yield* run(patterns, [flaky("a", ["502", "TIMEOUT", "404"]).tool, flaky("b", ["not found"]).tool]),
        [
          "404",
          "not found"
        ]
      )
      const byFunction = {
        ...quick,
        retryOn: (error: string, { name }: { readonly name: string }) => name === "a" && error === "x"
      }
      assert.deepEqual(yield* run(byFunction, [flaky("a", ["x", "y"]).tool, flaky("b", ["x"]).tool]), ["y", "x"])
    }))

  it("emits an event for every retry", async () => {
    const told: Array<unknown> = []
    await using agent = createAgent({
      provider: Scripted.make([Scripted.toolCalls({ name: "reads", id: "call-1" }), "done"]),
      tools: [flaky("reads", ["busy"], { readOnly: true }).tool],
      hooks: [ToolRetry.make({ initialDelayMs: 0 })]
    })
    agent.on((event) => void (event.type === "custom" ? told.push([event.name, event.payload]) : undefined))
    await agent.run("go")
    assert.deepEqual(told, [["tool-retry", { tool: "reads", callId: "call-1", retry: 1, delayMs: 0 }]])
  })

  it.effect("retries a call that timed out, and stops when the turn is cancelled", () =>
    Effect.gen(function*() {
      let tries = 0
      const slow = defineTool({
        name: "slow",
        description: "slow",
        input: Schema.Struct({}),
        readOnly: true,
        execute: () => ++tries === 1 ? Effect.never : Effect.succeed("fine")
      })
      const hooks = [Timeouts.make({ tool: 100 }), ToolRetry.make({ jitter: "none" })]
      const script = () => Scripted.make([Scripted.toolCalls({ name: "slow" }), "done"])
      const first = yield* AgentRuntime.make({ provider: script(), tools: [slow], hooks })
      const fiber = yield* Effect.forkChild(first.run("go"), { startImmediately: true })
      yield* TestClock.adjust(1_100)
      assert.strictEqual((yield* Fiber.join(fiber)).messages[2]?.content, "fine")

      tries = 0
      const second = yield* AgentRuntime.make({ provider: script(), tools: [slow], hooks })
      const cancelled = yield* Effect.forkChild(second.run("go"), { startImmediately: true })
      yield* TestClock.adjust(500)
      yield* Fiber.interrupt(cancelled)
      yield* TestClock.adjust(5_000)
      assert.strictEqual(tries, 1)
    }))

  it.effect("does not retry a rejected call", () =>
    Effect.gen(function*() {
      const { made, tool } = flaky("reads", [], { readOnly: true })
      const refuse = { name: "refuse", preToolCall: () => HookAction.reject("no") }
      const provider = Scripted.make([Scripted.toolCalls({ name: "reads" }), "done"])
      const runtime = yield* AgentRuntime.make({ provider, tools: [tool], hooks: [refuse, ToolRetry.make()] })
      assert.strictEqual((yield* runtime.run("go")).messages[2]?.content, "no")
      assert.strictEqual(made.tries, 0)
    }))

  it("rejects invalid options", () => {
    assert.throws(() => ToolRetry.make({ maxRetries: 1.5 }), ConfigError, /tool-retry\.maxRetries/)
    assert.throws(() => ToolRetry.make({ retryOn: ["(?=x)"] }), ConfigError, /tool-retry\.retryOn\[0\]/)
    assert.throws(() => ToolRetry.make({ maxDelayMs: -1 }), ConfigError, /maxDelayMs/)
  })
})
