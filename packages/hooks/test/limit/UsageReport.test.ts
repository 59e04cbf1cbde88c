import { ConfigError } from "@belay/core/AgentError"
import * as AgentRuntime from "@belay/core/AgentRuntime"
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import * as HookState from "@belay/core/HookState"
import type { LlmResponse } from "@belay/core/LlmCall"
import { textResponse } from "@belay/core/LlmCall"
import * as ProviderError from "@belay/core/ProviderError"
import * as UsageReport from "@belay/hooks/UsageReport"
import * as Scripted from "@belay/testing/Scripted"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"

const prices = { "small-1": { costPerInputToken: 0.001, costPerOutputToken: 0.002 } }
const look = defineTool({ name: "look", description: "Look", input: Schema.Struct({}), execute: () => "seen" })
const fail = defineTool({
  name: "fail",
  description: "Fail",
  input: Schema.Struct({}),
  execute: () => {
    throw new Error("no")
  }
})
const says = (response: Partial<LlmResponse>): LlmResponse => ({ ...textResponse("done", "small-1"), ...response })
const usage = { inputTokens: 100, outputTokens: 10, cachedTokens: 40, reasoningTokens: 5 }

describe("UsageReport", () => {
  it("adds up models, tools, agents and the decisions of hooks", async () => {
    const calls = Scripted.toolCalls({ name: "look" }, { name: "fail" }, { name: "look" }, { name: "look" })
    const down = new ProviderError.Overloaded({ provider: "scripted", message: "busy", model: "small-1" })
    const provider = Scripted.make([
      { ...calls, model: "small-1", usage },
      down,
      says({ usage }),
      says({ model: "large-1", usage }),
      says({})
    ])
    let n = 0
    const twice = { name: "twice", tools: "look", preToolCall: () => ++n > 2 ? HookAction.reject("enough") : undefined }
    const quick = { name: "quick", onLlmError: () => HookAction.transform({ type: "retry", delayMs: 0 } as const) }
    await using agent = createAgent({
      provider,
      name: "ada",
      tools: [look, fail],
      hooks: [twice, quick, UsageReport.make({ prices })]
    })
    const session = await agent.session()
    for (const _ of [1, 2, 3]) await session.run("go")
    const { agents, hooks, models, tools } = UsageReport.read(session.state)
    assert.deepEqual(models.map(({ durationMs: _, ...row }) => row), [
      {
        name: "small-1",
        calls: 4,
        failures: 1,
        inputTokens: 200,
        outputTokens: 20,
        cachedTokens: 80,
        reasoningTokens: 10,
        pico: "240000000000",
        unpriced: 1
      },
      { name: "large-1", calls: 1, failures: 0, ...usage, pico: "0", unpriced: 1 }
    ])
    assert.deepEqual(
      tools.map(({ durationMs: _, ...row }) => row),
      [
        { name: "look", calls: 2, failures: 0, denied: 1 },
        { name: "fail", calls: 1, failures: 1, denied: 0 }
      ].sort((a, b) => tools.findIndex(({ name }) => name === a.name) - tools.findIndex(({ name }) => name === b.name))
    )
    assert.deepInclude(agents[0], { name: "ada", turns: 3, calls: 5, toolCalls: 3, inputTokens: 300, unpriced: 2 })
    assert.deepEqual(hooks.filter(({ name }) => name === "twice"), [{
      name: "twice",
      changed: 0,
      answered: 0,
      refused: 1,
      asked: 0
    }])
    assert.deepEqual(hooks.filter(({ name }) => name === "quick"), [{
      name: "quick",
      changed: 1,
      answered: 0,
      refused: 0,
      asked: 0
    }])
    assert.deepEqual(UsageReport.cost(UsageReport.read(session.state)), { usd: 0.24, text: "$0.24", unpriced: 2 })
  })

  it.effect("counts the duration of calls, and a call that was cut off", () =>
    Effect.gen(function*() {
      const slow = Effect.delay(Effect.succeed(says({ usage })), 1_500)
      const reports: Array<UsageReport.Report> = []
      const runtime = yield* AgentRuntime.make({
        provider: Scripted.make([slow, Effect.never]),
        hooks: [UsageReport.make({ sink: (report) => void reports.push(report) })]
      })
      const session = yield* runtime.session()
      const first = yield* Effect.forkChild(session.run("go"), { startImmediately: true })
      yield* TestClock.adjust(1_500)
      yield* Fiber.join(first)
      const second = yield* Effect.forkChild(session.run("go"), { startImmediately: true })
      yield* TestClock.adjust(500)
      yield* Fiber.interrupt(second)
      yield* session.close()
      assert.deepEqual(
        reports[0]?.models.map(({ calls, durationMs, failures, name }) => ({ calls, durationMs, failures, name })),
        [
          { name: "small-1", calls: 1, failures: 0, durationMs: 1_500 },
          { name: "unknown", calls: 1, failures: 1, durationMs: 500 }
        ]
      )
    }))

  it("merges the reports of an agent and its sub-agents", async () => {
    const reports: Array<UsageReport.Report> = []
    const hook = () => UsageReport.make({ prices, sink: (report) => void reports.push(report) })
    await using helper = createAgent({ name: "helper", provider: Scripted.make([says({ usage })]), hooks: [hook()] })
    await using main = createAgent({
      name: "main",
      provider: Scripted.make([Scripted.toolCalls({ name: "ask", args: { message: "help" } }), says({ usage })]),
      tools: [agentTool({ name: "ask", description: "Ask", agent: helper })],
      hooks: [hook()]
    })
    await main.run("go")
    await main.close()
    await helper.close()
    const { agents } = UsageReport.merge(reports)
    assert.sameMembers(agents.map(({ name }) => name), ["main", "helper"])
    assert.deepInclude(agents.find(({ name }) => name === "helper"), { turns: 1, calls: 1, inputTokens: 100 })
  })

  it("continues to count after a resume", async () => {
    const make = () =>
      createAgent({
        provider: Scripted.make([Scripted.toolCalls({ name: "look" })]),
        tools: [look],
        hooks: [UsageReport.make()],
        limits: { steps: 1 }
      })
    await using first = make()
    const limited = await first.run("go")
    if (limited.status !== "limited") return assert.fail(limited.status)
    await using second = make()
    const again = await second.resume(JSON.stringify(limited.snapshot))
    if (again.status !== "limited") return assert.fail(again.status)
    assert.strictEqual(UsageReport.read(HookState.make(again.snapshot.hookState)).tools[0]?.calls, 2)
  })

  it("renders tables that names with control characters cannot break", () => {
    const row = {
      calls: 1_200,
      failures: 1,
      inputTokens: 1e6,
      outputTokens: 5,
      cachedTokens: 0,
      reasoningTokens: 0,
      pico: "1500000000000",
      unpriced: 0
    }
    const report: UsageReport.Report = {
      models: [{ ...row, name: "small-1", durationMs: 61_240 }, {
        ...row,
        name: "evil\u001b[2J\nname",
        durationMs: 3,
        pico: "0",
        unpriced: 1_200
      }],
      tools: [{ name: "look", calls: 3, failures: 0, denied: 2, durationMs: 12.4 }],
      agents: [],
      hooks: []
    }
    assert.strictEqual(
      UsageReport.render(report),
      [
        "model          calls  failed      input  cached  output    time   cost",
        "small-1        1,200       1  1,000,000       0       5  61.2 s  $1.50",
        "evil?[2J?name  1,200       1  1,000,000       0       5    3 ms      ?",
        "",
        "tool  calls  failed  denied   time",
        "look      3       0       2  12 ms"
      ].join("\n")
    )
    assert.strictEqual(UsageReport.render(UsageReport.merge([])), "")
  })

  it.prop(
    "merges reports to the same sum in any order",
    [Schema.Array(UsageReport.Report), Schema.Int],
    ([reports, seed]) => {
      const few = reports.slice(0, 4)
      const other = [...few].sort((a, b) =>
        (JSON.stringify(a).length * seed) % 7 - (JSON.stringify(b).length * seed) % 7
      )
      const pico = (all: ReadonlyArray<UsageReport.Report>) => UsageReport.cost(UsageReport.merge(all))
      assert.strictEqual(pico(few).text, pico(other).text)
    }
  )

  it("keeps a small report if a vendor reports a new model every time", async () => {
    const script = Array.from({ length: 200 }, (_, n) => says({ model: `${n}${"x".repeat(1_000)}` }))
    await using agent = createAgent({ provider: Scripted.make(script), hooks: [UsageReport.make()] })
    const session = await agent.session()
    for (const _ of script) await session.run("go")
    const { models } = UsageReport.read(session.state)
    assert.lengthOf(models, 65)
    assert.deepInclude(models.at(-1), { name: "other", calls: 136 })
  })

  it("rejects invalid prices", () => {
    assert.throws(
      () => UsageReport.make({ costPerInputToken: -1, costPerOutputToken: 1 }),
      ConfigError,
      /usage-report\.costPerInputToken/
    )
  })
})
