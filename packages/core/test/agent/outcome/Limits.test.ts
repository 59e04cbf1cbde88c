/** Caps: reaching one ends the turn as limited, says which, and the run can be resumed. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as AgentRuntime from "../../../src/agent/AgentRuntime.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import * as ProviderError from "../../../src/data/ProviderError.ts"
import type { Limited, RunResult } from "../../../src/guard/RunResult.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { assertValid, line, recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

const limitedOf = (result: RunResult): Limited => {
  assert.strictEqual(result.status, "limited")
  assertValid(result.messages)
  return result as Limited
}

describe("limits", () => {
  it("of steps stop a model that calls tools forever; each resume starts counting again", async () => {
    const model = scripted([], { after: () => asks(["look"]) })
    const look = recording("look")
    await using agent = createAgent({ provider: model.provider, tools: [look.tool], limits: { steps: 3 } })
    const first = limitedOf(await agent.run("go"))
    assert.deepStrictEqual([first.limit, first.used, first.max, first.steps], ["steps", 3, 3, 3])
    assert.deepStrictEqual(JSON.parse(JSON.stringify(first.snapshot)), first.snapshot)
    const second = limitedOf(await agent.resume(JSON.stringify(first.snapshot)))
    assert.strictEqual(second.steps, 6)
    assert.lengthOf(look.ran, 6)
    assert.lengthOf(model.requests, 6)
  })

  it("of steps are 50 by default", async () => {
    const model = scripted([], { after: () => asks(["look"]) })
    await using agent = createAgent({ provider: model.provider, tools: [recording("look").tool] })
    assert.strictEqual(limitedOf(await agent.run("go")).used, 50)
  })

  it("of tool calls are exact, even within a step; a resume runs the rest", async () => {
    const look = recording("look", ({ n }) => n)
    const calls = Array.from({ length: 7 }, (_, n) => ["look", { n }] as const)
    await using agent = createAgent({
      provider: scripted([asks(...calls)]).provider,
      tools: [look.tool],
      limits: { toolCalls: 3 }
    })
    const first = limitedOf(await agent.run("go"))
    assert.deepStrictEqual([first.limit, first.used, first.max, first.toolCalls], ["toolCalls", 3, 3, 3])
    assert.lengthOf(look.ran, 3)
    const second = limitedOf(await agent.resume(first.snapshot))
    assert.lengthOf(look.ran, 6)
    const ended = await agent.resume(second.snapshot)
    assert.strictEqual(ended.status, "completed")
    assert.deepStrictEqual(look.ran.map((args) => (args as { n: number }).n), [0, 1, 2, 3, 4, 5, 6])
    assert.strictEqual(ended.toolCalls, 7)
    assertValid(ended.messages)
  })

  it("of attempts count retries, fallbacks and attempts that hooks request", async () => {
    const down = new ProviderError.Connection({ provider: "one", message: "gone" })
    const models = [scripted([down, down, down, "back"]), scripted([], { name: "two", after: down })] as const
    const insist: AgentHook = {
      name: "insist",
      onLlmError: ({ attempt }) => ({
        _tag: "Transform",
        value: attempt % 2 === 1 ? { type: "fallback", provider: "two" } : { type: "fallback", provider: "one" }
      })
    }
    await using agent = createAgent({
      provider: [models[0].provider, models[1].provider],
      hooks: [insist],
      limits: { attempts: 5 }
    })
    const first = limitedOf(await agent.run("go"))
    assert.deepStrictEqual([first.limit, first.used, first.max], ["attempts", 5, 5])
    assert.strictEqual(models[0].requests.length + models[1].requests.length, 5)
    assert.strictEqual((await agent.resume(first.snapshot)).text, "back")
  })

  it("of follow-ups are 8 in a row; a resumed run begins with the one that was not delivered", async () => {
    const model = scripted([])
    let nags = 0
    await using agent = createAgent({
      provider: model.provider,
      hooks: [{ name: "nag", preStop: (_, ctx) => nags < 12 ? ctx.followUp(`more ${++nags}`) : undefined }]
    })
    const first = limitedOf(await agent.run("go"))
    assert.deepStrictEqual([first.limit, first.used, first.max, first.text], ["followUps", 8, 8, "the end"])
    assert.lengthOf(model.requests, 9)
    const ended = await agent.resume(first.snapshot)
    assert.strictEqual(ended.status, "completed")
    assert.deepStrictEqual(
      ended.messages.flatMap((message) => message.role === "user" ? [message.content] : []),
      ["go", ...Array.from({ length: 12 }, (_, n) => `more ${n + 1}`)]
    )
  })

  it.effect("of wall-clock time end a turn whose provider hangs", () =>
    Effect.gen(function*() {
      const model = scripted([() => Effect.never, "back"])
      const runtime = yield* AgentRuntime.make({ provider: model.provider, limits: { wallClockMs: 60_000 } })
      const fiber = yield* Effect.forkChild(runtime.run("go"))
      yield* TestClock.adjust(59_999)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(1)
      const first = limitedOf(yield* Fiber.join(fiber))
      assert.deepStrictEqual([first.limit, first.used, first.max], ["wallClockMs", 60_000, 60_000])
      assert.strictEqual(model.open(), 0)
      const ended = yield* runtime.resume(first.snapshot)
      assert.strictEqual(line(ended.messages), "user: go | assistant: back")
    }))

  it("of wall-clock time leave a running tool with an unknown outcome, and do not change a finished one", async () => {
    const quick = recording("quick", () => "done")
    const slow = recording("slow", () => new Promise(() => {}))
    const again = recording(
      "again",
      (_, { signal }) =>
        again.ran.length === 1 ? new Promise((_resolve, reject) => signal.addEventListener("abort", reject)) : "done",
      { idempotent: true }
    )
    await using agent = createAgent({
      provider: scripted([asks(["quick"], ["slow"], ["again"])]).provider,
      tools: [quick.tool, slow.tool, again.tool],
      limits: { wallClockMs: 40 }
    })
    const first = limitedOf(await agent.run("go"))
    const ended = await agent.resume(first.snapshot)
    assert.match(
      line(ended.messages),
      /tool quick: done \| tool slow!: unknown outcome: this tool was interrupted.* \| tool again: done/
    )
    assert.deepStrictEqual([quick.ran.length, slow.ran.length, again.ran.length], [1, 1, 2])
  })

  it("of wall-clock time that are reached before the turn starts leave a run that starts, with all hooks, when it is resumed", async () => {
    const model = scripted(["done"])
    let slow = true
    const hook: AgentHook = {
      name: "slow",
      timeout: "none",
      preTurn: (input) =>
        slow ? new Promise<never>(() => {}) : HookAction.transform({ ...input, message: `${input.message}!` })
    }
    const make = () =>
      createAgent({ provider: model.provider, limits: { wallClockMs: slow ? 20 : 1_000 }, hooks: [hook] })
    const first = await make().run("go") as Limited
    assert.strictEqual(first.snapshot.phase, "start")
    slow = false
    const second = await make().resume(JSON.stringify(first.snapshot))
    assert.strictEqual(line(second.messages), "user: go! | assistant: done")
  })

  it("are checked when the agent is made", () => {
    const { provider } = scripted([])
    const wrong: ReadonlyArray<readonly [object, RegExp]> = [
      [{ steps: 0 }, /limits.steps: must be a number greater than 0, found 0/],
      [{ steps: "5" as never }, /limits.steps: must be a number greater than 0, found "5"/],
      [{ toolCalls: -1 }, /limits.toolCalls/],
      [{ wallClockMs: Number.NaN }, /limits.wallClockMs/],
      [{ attempts: "5" }, /limits.attempts/],
      [{ step: 5 }, /unknown limit "step": expected one of steps, toolCalls/],
      [{ toString: 5 }, /unknown limit "toString"/]
    ]
    for (const [limits, message] of wrong) assert.throws(() => createAgent({ provider, limits }), message)
  })

  it("that are undefined have their defaults", async () => {
    const model = scripted([], { after: () => asks(["look"]) })
    await using agent = createAgent({
      provider: model.provider,
      tools: [recording("look").tool],
      limits: { steps: undefined } as never
    })
    assert.strictEqual(limitedOf(await agent.run("go")).max, 50)
  })
})
