import { ConfigError } from "@belay/core/AgentError"
import type { AgentEvent } from "@belay/core/AgentEvent"
import { defineHook } from "@belay/core/AgentHook"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookChain from "@belay/core/HookChain"
import * as HookState from "@belay/core/HookState"
import type { Json } from "@belay/core/Json"
import type { ToolCall } from "@belay/core/Message"
import * as Tool from "@belay/core/Tool"
import * as LoopDetector from "@belay/hooks/LoopDetector"
import * as Scripted from "@belay/testing/Scripted"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { answer, call, standing } from "../events.ts"
import * as Scope from "../scope.ts"

type Call = readonly [tool: string, args?: Json]

/** A tool that answers what `answer` says, and writes down that it ran. */
const toolkit = (answers: { readonly [tool: string]: (args: unknown, times: number) => Json }) => {
  const ran: Array<string> = []
  const tools = Object.entries(answers).map(([name, execute]) =>
    defineTool({
      name,
      description: name,
      input: Schema.Struct({ q: Schema.optionalKey(Schema.String) }),
      execute: (args) => execute(args, ran.push(name))
    })
  )
  return { ran, tools }
}

const step = (...calls: ReadonlyArray<Call>) =>
  Scripted.toolCalls(...calls.map(([name, args]) => ({ name, args: args ?? {} })))

/** Runs one turn with these steps, and tells what the model and the outside heard. */
const walk = async (
  steps: ReadonlyArray<ReadonlyArray<Call>>,
  answers: Parameters<typeof toolkit>[0],
  options: LoopDetector.Options = {}
) => {
  const { ran, tools } = toolkit(answers)
  const provider = Scripted.make([...steps.map((calls) => step(...calls)), "done"])
  const events: Array<AgentEvent> = []
  await using agent = createAgent({ provider, tools, hooks: [LoopDetector.make(options)] })
  agent.on((event) => void events.push(event))
  const result = await agent.run("go")
  const results = result.messages.flatMap((message) => message.role === "tool" ? [message.content] : [])
  const told = events.flatMap((event) =>
    event.type === "warning" || event.type === "notice" || event.type === "inject" ? [event.type] : []
  )
  return { result, ran, results, told, events, provider }
}

const times = <A>(n: number, value: A): ReadonlyArray<A> => Array.from({ length: n }, () => value)
const look: ReadonlyArray<Call> = [["look", { q: "a" }]]
const same = { look: () => "same", read: () => "text" }

describe("LoopDetector in an agent", () => {
  it("climbs the ladder for the same call: warns, advises, tells a person, blocks, stops", async () => {
    const { provider, ran, result, results, told } = await walk(times(12, look), same)
    assert.deepEqual(told, ["warning", "inject", "notice", "notice"])
    assert.lengthOf(ran, 4)
    assert.deepEqual(results.slice(0, 5), [
      ...times(4, "same"),
      "Loop detected: the same call of look 5 times without a new result. It was not made again. Change strategy."
    ])
    assert.deepInclude(result, { status: "aborted", by: "loop-detector" })
    assert.match(result.text, /the same call of look 8 times/)
    assert.lengthOf(provider.requests, 8)
    assert.include(JSON.stringify(provider.requests[3]?.messages), "Repeating it will not help")
  })

  it("takes equal arguments for equal whatever the order of their keys, and others for others", async () => {
    const varied = await walk(times(6, 0).map((_, n) => [["look", { q: String(n) }]] as const), same)
    assert.deepEqual([varied.result.status, varied.told], ["completed", []])
  })

  it("leaves a tool alone whose result changes", async () => {
    const { result, told } = await walk(times(12, look), { look: (_args, n) => `progress ${n}` })
    assert.deepEqual([result.status, told], ["completed", []])
  })

  it("counts equal calls of one step once", async () => {
    const fan = times(9, look[0]!)
    const { ran, result, told } = await walk([fan], same)
    assert.deepEqual([result.status, told, ran.length], ["completed", [], 9])
    const again = await walk(times(5, fan), same)
    assert.deepEqual(again.told, ["warning", "inject", "notice", "notice"])
    assert.lengthOf(again.ran, 36)
  })

  for (const length of [2, 3, 4]) {
    it(`finds ${length} calls that go round without progress`, async () => {
      const round = times(length, 0).map((_, n): ReadonlyArray<Call> => [["look", { q: `place ${n}` }]])
      const { ran, result, told } = await walk(times(9, round).flat(), same)
      assert.deepInclude(result, { status: "aborted", by: "loop-detector" })
      assert.lengthOf(ran, 4 * length)
      assert.includeMembers(told, ["warning", "inject", "notice"])
    })
  }

  it("starts anew when anything new happens in between", async () => {
    const steps = times(8, 0).flatMap((
      _,
      n
    ): ReadonlyArray<ReadonlyArray<Call>> => [look, look, [["read", { q: `file ${n}` }]]])
    const { result, told } = await walk(steps, same, { ladder: { observe: 3, steer: 3 } })
    assert.deepEqual([result.status, told], ["completed", []])
  })

  it("blocks a call that failed three times with the same error, and says so in the same words each time", async () => {
    const { ran, result, results } = await walk(times(5, look), {
      look: () => {
        throw new Error("no such table")
      }
    })
    const reason = "Loop detected: identical failing command executed 3 times in 1 minute. Escalate or change strategy."
    assert.deepEqual(results, [...times(3, "no such table"), reason, reason])
    assert.lengthOf(ran, 3)
    assert.strictEqual(result.status, "completed")
    assert.isTrue(
      result.messages.some((message) => message.role === "user" && JSON.stringify(message.content).includes(reason))
    )
  })

  it("lets a call that failed three times be tried once more after something new was done", async () => {
    const edit = (n: number): ReadonlyArray<Call> => [["read", { q: String(n) }]]
    const { ran, results } = await walk(
      [look, edit(1), look, edit(2), look, look, edit(3), look, look, edit(4), look],
      {
        read: (_args, n) => `edited ${n}`,
        look: (_args, n) => {
          if (n > 8) return "fixed"
          throw new Error("tests fail")
        }
      }
    )
    const reason = (n: number) =>
      `Loop detected: identical failing command executed ${n} times in 1 minute. Escalate or change strategy.`
    assert.deepEqual(results.filter((result) => !JSON.stringify(result).includes("edited")), [
      ...times(3, "tests fail"),
      reason(3),
      "tests fail",
      reason(4),
      "fixed"
    ])
    assert.lengthOf(ran, 9)
  })

  it("leaves a call alone that fails otherwise each time, or succeeds in between", async () => {
    const flaky = await walk(times(7, look), {
      look: (_args, n) => {
        if (n % 3 === 0) return `fine ${n}`
        throw new Error("busy")
      }
    })
    assert.lengthOf(flaky.ran, 7)
  })

  it("finds the same error behind different calls", async () => {
    const { result, told } = await walk(times(9, 0).map((_, n) => [["look", { q: String(n) }]] as const), {
      look: () => {
        throw new Error("permission denied")
      }
    })
    assert.deepEqual(told, ["warning", "inject", "notice", "notice"])
    assert.match(result.text, /look failed with the same error 8 times in a row/)
  })

  it("finds arguments that are empty or broken again and again, which no tool ever saw", async () => {
    const strict = defineTool({
      name: "strict",
      description: "strict",
      input: Schema.Struct({ q: Schema.String }),
      execute: () => "ran"
    })
    const broken = (n: number): ToolCall => ({ id: `broken-${n}`, name: "strict", args: null, malformed: `{"q": ${n}` })
    const provider = Scripted.make(
      times(9, 0).map((_, n) => n % 2 === 0 ? step(["strict", {}]) : { ...step(), toolCalls: [broken(n)] })
    )
    await using agent = createAgent({ provider, tools: [strict], hooks: [LoopDetector.make()] })
    const result = await agent.run("go")
    assert.deepInclude(result, { status: "aborted", by: "loop-detector" })
    assert.match(result.text, /strict was called 8 times with empty or broken arguments/)
  })

  it("finds a model that keeps giving the same answer", async () => {
    const nag = defineHook({ name: "nag", preStop: (_stop, ctx) => ctx.followUp("go on") })
    const provider = Scripted.make(times(9, "I am done.\n"))
    const events: Array<string> = []
    await using agent = createAgent({ provider, hooks: [LoopDetector.make({ ladder: { stop: 5 } }), nag] })
    agent.on((event) => void (event.type === "warning" ? events.push(event.message) : undefined))
    const result = await agent.run("go")
    assert.deepEqual(events, ["Loop detected: the same answer 2 times in a row."])
    assert.deepInclude(result, {
      status: "aborted",
      reason: "Loop detected: the same answer 5 times in a row. The turn was stopped."
    })
  })

  it("counts by the fields it is told, by a function, or not at all", async () => {
    const steps = times(4, 0).map((_, n) => [["look", { q: String(n) }]] as const)
    const options = (
      loopKey: LoopDetector.Options["loopKey"]
    ) => ({ ladder: { steer: false, escalate: false }, loopKey: loopKey! } as const)
    assert.deepEqual((await walk(steps, same, options({ look: ["nothing"] }))).told, ["warning"])
    assert.deepEqual((await walk(steps, same, options({ look: () => 1 }))).told, ["warning"])
    assert.deepEqual((await walk(times(9, look), same, options({ look: false }))).told, [])
    const throws = options({
      look: () => {
        throw new Error("oops")
      }
    })
    assert.deepEqual((await walk(steps, same, throws)).told, [])
  })

  it("is not misled by a tool with the name of a prototype's member", async () => {
    const { ran } = await walk(times(6, [["constructor", {}]]), { constructor: () => "same" }, {
      ladder: { stop: false },
      loopKey: {}
    })
    assert.lengthOf(ran, 4)
  })

  it("goes on counting in another process after a person was asked, and asks at most twice", async () => {
    const options: LoopDetector.Options = { escalate: "ask" }
    const first = toolkit(same)
    await using one = createAgent({
      provider: Scripted.make(times(4, 0).map(() => step(...look))),
      tools: first.tools,
      hooks: [LoopDetector.make(options)]
    })
    const asked = await one.run("go")
    if (asked.status !== "suspended") return assert.fail(asked.status)
    assert.strictEqual(asked.pending[0]?.reason, "Loop detected: the same call of look 4 times without a new result.")
    assert.lengthOf(first.ran, 3)
    assert.isBelow(JSON.stringify(asked.snapshot.hookState).length, 2_000)
    assert.notInclude(JSON.stringify(asked.snapshot.hookState), "same")

    const second = toolkit(same)
    await using two = createAgent({
      provider: Scripted.make([...times(9, 0).map(() => step(...look)), "done"]),
      tools: second.tools,
      hooks: [LoopDetector.make({ ...options, ladder: { block: 6 } })]
    })
    const again = await two.resume(JSON.stringify(asked.snapshot), { [asked.pending[0]!.callId]: { type: "approve" } })
    if (again.status !== "suspended") return assert.fail(again.status)
    assert.strictEqual(again.pending[0]?.reason, "Loop detected: the same call of look 5 times without a new result.")
    const ended = await two.resume(again.snapshot, { [again.pending[0]!.callId]: { type: "approve" } })
    assert.deepInclude(ended, { status: "aborted", by: "loop-detector" })
    assert.lengthOf(second.ran, 2)
  })
})

describe("LoopDetector in a chain", () => {
  const chain = HookChain.makeUnsafe([LoopDetector.make()])
  const refused = (stepNumber: number, state: HookState.Store, agent = "tester") => {
    const scope = Scope.make({ stepNumber, state, agent: { name: agent, depth: 0, invokedBy: "main" } })
    const event = { ...call("build", {}, `call-${stepNumber}`), args: { target: "all" } }
    return Effect.gen(function*() {
      yield* chain.run("preToolCall", event, scope)
      const ended = {
        call: event,
        tool: event.tool,
        result: Tool.failure("linker failed"),
        elapsedMs: 1,
        executed: true
      }
      return (yield* chain.run("postToolCall", ended, scope)).action
    })
  }

  // rows: B-42
  it.effect("says how often and in how many minutes a call has failed alike", () =>
    Effect.gen(function*() {
      const state = HookState.make()
      assert.strictEqual((yield* refused(1, state))._tag, "Continue")
      yield* TestClock.adjust("4 minutes")
      assert.strictEqual((yield* refused(2, state))._tag, "Continue")
      yield* TestClock.adjust("2 minutes")
      assert.deepEqual(yield* refused(3, state), {
        _tag: "Reject",
        reason: "Loop detected: identical failing command executed 3 times in 6 minutes. Escalate or change strategy."
      })
    }))

  const walked = (keys: ReadonlyArray<string>, resultOf: (key: string, step: number) => string) =>
    Effect.gen(function*() {
      const state = HookState.make()
      const ran: Array<string> = []
      for (const [index, key] of keys.entries()) {
        const scope = Scope.make({ state, stepNumber: index + 1 })
        const made = call("look", { key }, `call-${index}`)
        const { action } = yield* chain.run("preToolCall", made, scope)
        if (action._tag === "Abort") return { ran, action: action._tag }
        const content = action._tag === "Reject" ? action.reason : resultOf(key, index)
        if (action._tag === "Continue") ran.push(key)
        const messages = [
          { role: "assistant" as const, content: "", toolCalls: [{ id: made.id, name: "look", args: { key } }] },
          { role: "tool" as const, toolCallId: made.id, toolName: "look", content, isError: action._tag === "Reject" }
        ]
        const after = yield* chain.run("postStep", { ...standing, messages }, scope)
        if (after.action._tag === "Abort") return { ran, action: after.action._tag }
      }
      return { ran, action: "Continue" }
    })
  const few = Schema.Literals(["a", "b", "c", "d"])

  it.effect.prop(
    "lets every call pass whose result is always new",
    [Schema.Array(few)],
    ([keys]) =>
      Effect.gen(function*() {
        assert.deepEqual(yield* walked(keys, (key, step) => `${key} at ${step}`), {
          ran: [...keys],
          action: "Continue"
        })
      })
  )

  it.effect.prop(
    "ends every round of up to four calls, and runs none more than four times after the last that was new",
    [Schema.Array(few)],
    ([round]) =>
      Effect.gen(function*() {
        const keys = Array.from({ length: 12 }, () => ["a", ...round.slice(0, 3)]).flat()
        const { action, ran } = yield* walked(keys, (key) => key)
        assert.strictEqual(action, "Abort")
        const lastNew = Math.max(...[...new Set(keys)].map((key) => keys.indexOf(key)))
        for (const key of new Set(keys)) assert.isAtMost(ran.slice(lastNew + 1).filter((one) => one === key).length, 4)
      })
  )

  it.effect("counts every agent of a session by itself", () =>
    Effect.gen(function*() {
      const state = HookState.make()
      for (const agent of ["one", "two", "__proto__"]) {
        for (const stepNumber of [1, 2]) assert.strictEqual((yield* refused(stepNumber, state, agent))._tag, "Continue")
      }
      assert.strictEqual((yield* refused(3, state, "__proto__"))._tag, "Reject")
      assert.strictEqual((yield* refused(2, state, "one"))._tag, "Continue")
    }))

  it.effect("starts anew with every turn", () =>
    Effect.gen(function*() {
      const state = HookState.make()
      for (let turnNumber = 1; turnNumber < 6; turnNumber++) {
        const scope = Scope.make({ state, turnNumber })
        assert.strictEqual((yield* chain.run("postLlmCall", answer({ text: "yes" }), scope)).action._tag, "Continue")
        assert.deepEqual(scope.warnings, [])
      }
    }))

  it.effect("finds compactions that make nothing shorter, skips them, and ends the turn", () =>
    Effect.gen(function*() {
      const scope = Scope.make()
      const budget = { usedTokens: 1_000, windowTokens: 1_000 }
      const compaction = { messages: [], budget, trigger: "threshold", hint: {} } as const
      const actions: Array<string> = []
      for (let n = 0; n < 8; n++) {
        actions.push((yield* chain.run("preCompaction", compaction, scope)).action._tag)
        yield* chain.run(
          "postCompaction",
          { removedCount: 1, summary: "", budget: { ...budget, usedTokens: 990 }, trigger: "threshold" },
          scope
        )
      }
      assert.deepEqual(actions, [...times(4, "Continue"), ...times(4, "Reject")])
      const asked = yield* chain.run("preLlmCall", { messages: [], tools: [], parameters: {} }, scope)
      assert.deepEqual(asked.action, {
        _tag: "Abort",
        reason: "Loop detected: 8 compactions in a row that made nothing shorter. The turn was stopped."
      })
    }))

  it.effect("takes a compaction that works for progress", () =>
    Effect.gen(function*() {
      const scope = Scope.make()
      const budget = { usedTokens: 1_000, windowTokens: 1_000 }
      for (let n = 0; n < 20; n++) {
        yield* chain.run("preCompaction", { messages: [], budget, trigger: "threshold", hint: {} }, scope)
        yield* chain.run(
          "postCompaction",
          { removedCount: 1, summary: "", budget: { ...budget, usedTokens: 500 }, trigger: "threshold" },
          scope
        )
      }
      assert.deepEqual(scope.warnings, [])
    }))

  it.effect("stays small, however much is called and however long the ids are", () =>
    Effect.gen(function*() {
      const state = HookState.make()
      for (let n = 0; n < 600; n++) {
        yield* chain.run(
          "preToolCall",
          call("look", { n }, `${n}${"x".repeat(5_000)}`),
          Scope.make({ state, stepNumber: n >> 8 })
        )
      }
      assert.isBelow(JSON.stringify(state.snapshot()).length, HookState.maxKey / 2)
    }))

  it("refuses options that make no sense", () => {
    assert.throws(
      () => LoopDetector.make({ ladder: { stop: 0 } }),
      ConfigError,
      /loop-detector\.ladder\.stop: expected a whole number from 1, found 0/
    )
    assert.throws(() => LoopDetector.make({ failures: 1.5 }), ConfigError, /failures/)
    assert.throws(
      () => LoopDetector.make({ escalate: "shout" as "ask" }),
      ConfigError,
      /one of ask, notify, found "shout"/
    )
    assert.throws(() => LoopDetector.make({ name: "mine", maxEscalations: -1 }), ConfigError, /mine\.maxEscalations/)
  })
})
