/** The limits of an agent hold for everything that its sub-agents do. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as AgentRuntime from "../../../src/agent/AgentRuntime.ts"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { type Agent, createAgent } from "../../../src/agent/createAgent.ts"
import type { Limits } from "../../../src/agent/Limits.ts"
import type { Decision } from "../../../src/data/RunState.ts"
import type { Limited, Suspended } from "../../../src/guard/RunResult.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { assertValid, recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

/** Counts what happens in a tree. */
interface Counts {
  models: number
  tools: number
}

/** An agent that delegates to each of its sub-agents with every answer, or calls a tool forever. */
const grow = (
  counts: Counts,
  widths: ReadonlyArray<number>,
  limits: ReadonlyArray<Partial<Limits>> = [],
  hooks: ReadonlyArray<AgentHook> = []
): Agent => {
  const [width = 0, ...below] = widths
  const [own = {}, ...others] = limits
  const names = Array.from({ length: width }, (_, index) => `sub${index}`)
  const model = scripted([], {
    after: () => {
      counts.models++
      return width === 0 ? asks(["look"]) : asks(...names.map((name) => [name, { message: "go" }] as const))
    }
  })
  const look = recording("look", () => void counts.tools++)
  return createAgent({
    name: `level${widths.length}`,
    provider: model.provider,
    limits: own,
    hooks,
    tools: width === 0
      ? [look.tool]
      : names.map((name) => agentTool({ name, description: "Works", agent: grow(counts, below, others) }))
  })
}

const limited = (result: { readonly status: string }): Limited => {
  assert.strictEqual(result.status, "limited")
  const found = result as Limited
  assertValid(found.messages)
  return found
}

describe("the limits of an agent", () => {
  for (const widths of [[1], [2], [3, 3], [1, 1, 1], [2, 2, 2]]) {
    it(`of steps hold for a tree of ${widths.join(" x ")} agents, exactly`, async () => {
      const counts = { models: 0, tools: 0 }
      await using lead = grow(counts, widths, [{ steps: 20 }])
      const result = limited(await lead.run("go"))
      assert.deepStrictEqual([result.limit, result.used, result.max, counts.models], ["steps", 20, 20, 20])
      // Each resume after the limit has as many again, and continues the agents where they were.
      limited(await lead.resume(JSON.stringify(result.snapshot)))
      assert.strictEqual(counts.models, 40)
    })

    it(`of tool calls hold for a tree of ${widths.join(" x ")} agents, exactly`, async () => {
      const counts = { models: 0, tools: 0 }
      await using lead = grow(counts, widths, [{ toolCalls: 40 }])
      const result = limited(await lead.run("go"))
      assert.deepStrictEqual([result.limit, result.used, result.max], ["toolCalls", 40, 40])
      // The delegations are calls too.
      const delegations = 40 - counts.tools
      assert.isAtLeast(delegations, widths.length)
      assert.isAbove(counts.tools, 0)
    })
  }

  it("of a sub-agent hold for its own part, and its caller reads that it was limited", async () => {
    const counts = { models: 0, tools: 0 }
    const boss = grow(counts, [1], [{ steps: 4 }])
    const model = scripted([asks(["boss", { message: "go" }])], { after: "done" })
    await using lead = createAgent({
      provider: model.provider,
      tools: [agentTool({ name: "boss", description: "Works", agent: boss })],
      limits: { steps: 10 }
    })
    const result = await lead.run("go")
    assert.strictEqual(result.status, "completed")
    assert.strictEqual(counts.models, 4)
    const told = result.messages.find(({ role }) => role === "tool")
    assert.strictEqual(told?.content, "boss was limited: steps 4 of 4")
    assert.strictEqual(result.status === "completed" && result.text, "done")
  })

  it("count on after a question to a person, in another process", async () => {
    const counts = { models: 0, tools: 0 }
    let asked = 0
    const gate: AgentHook = {
      name: "gate",
      tools: "look",
      preToolCall: () => ++asked === 3 ? HookAction.ask("sure?") : undefined
    }
    const make = () => grow(counts, [1], [{ steps: 6 }], [gate])
    await using first = make()
    const suspended = await first.run("go")
    if (suspended.status !== "suspended") return assert.fail(suspended.status)
    assert.strictEqual(counts.models, 4)
    await using second = make()
    const [ask] = suspended.pending
    const result = limited(
      await second.resume(JSON.stringify(suspended.snapshot), { [ask!.callId]: { type: "approve" } })
    )
    assert.deepStrictEqual([result.limit, result.used, counts.models], ["steps", 6, 6])
  })

  it.effect("of time do not count while people are asked in this process, in a sub-agent too", () =>
    Effect.gen(function*() {
      const asked = Promise.withResolvers<void>()
      const answered = Promise.withResolvers<Decision>()
      const ran = Promise.withResolvers<void>()
      const slow = scripted([asks(["pay"]), () => Effect.andThen(Effect.sync(ran.resolve), Effect.never)])
      const inner = createAgent({ name: "inner", provider: slow.provider, tools: [recording("pay").tool] })
      const runtime = yield* AgentRuntime.make({
        provider: scripted([asks(["inner", { message: "go" }])]).provider,
        tools: [agentTool({ name: "inner", description: "Works", agent: inner })],
        hooks: [{ name: "gate", tools: "pay", preToolCall: () => HookAction.ask("sure?") }],
        onAsk: () => {
          asked.resolve()
          return answered.promise
        },
        limits: { wallClockMs: 5_000 }
      })
      const fiber = yield* Effect.forkChild(runtime.run("go"))
      yield* Effect.promise(() => asked.promise)
      yield* TestClock.adjust(600_000)
      assert.isUndefined(fiber.pollUnsafe())
      answered.resolve({ type: "approve" })
      yield* Effect.promise(() => ran.promise)
      yield* TestClock.adjust(4_999)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.strictEqual(limited(yield* Fiber.join(fiber)).limit, "wallClockMs")
    }))

  it("of time do not count in a snapshot what people needed to answer", async () => {
    const again = Promise.withResolvers<void>()
    let answers = 0
    const gate: AgentHook = { name: "gate", preToolCall: () => HookAction.ask("sure?") }
    await using agent = createAgent({
      provider: scripted([asks(["look"]), asks(["look"])]).provider,
      tools: [recording("look").tool],
      hooks: [gate],
      onAsk: () => {
        if (answers++ > 0) again.resolve()
        return new Promise((resolve) => answers > 1 ? undefined : setTimeout(resolve, 50, { type: "approve" }))
      }
    })
    const session = await agent.session()
    const running = session.run("go")
    await again.promise
    await session.park()
    const { snapshot } = await running as Suspended
    assert.isAtMost(snapshot.used!.elapsedMs, snapshot.counts.elapsedMs - 45)
  })

  it.effect("of time hold for sub-agents", () =>
    Effect.gen(function*() {
      const slow = scripted([() => Effect.never])
      const inner = createAgent({ name: "inner", provider: slow.provider })
      const runtime = yield* AgentRuntime.make({
        provider: scripted([asks(["inner", { message: "go" }])]).provider,
        tools: [agentTool({ name: "inner", description: "Works", agent: inner })],
        limits: { wallClockMs: 5_000 }
      })
      const fiber = yield* Effect.forkChild(runtime.run("go"))
      yield* TestClock.adjust(4_999)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(1)
      const result = yield* Fiber.join(fiber)
      assert.strictEqual(limited(result).limit, "wallClockMs")
      assert.strictEqual(slow.open(), 0)
    }))

  it("of time count on when the run is resumed from a snapshot", async () => {
    const model = scripted([], { after: () => asks(["look"]) })
    const gate: AgentHook = { name: "gate", preToolCall: () => HookAction.ask("sure?") }
    await using agent = createAgent({
      provider: model.provider,
      tools: [recording("look", () => new Promise(() => {})).tool],
      hooks: [gate],
      limits: { wallClockMs: 60_000 }
    })
    const first = await agent.run("go")
    if (first.status !== "suspended") return assert.fail(first.status)
    const { snapshot: { used, ...rest } } = first
    assert.isAbove(used!.elapsedMs, 0)
    const late = { ...rest, used: { ...used!, elapsedMs: 60_000 } }
    assert.strictEqual(
      limited(await agent.resume(late, { [first.pending[0]!.callId]: { type: "approve" } })).limit,
      "wallClockMs"
    )
  })
})
