import { ConfigError } from "@belay/core/AgentError"
import * as HookChain from "@belay/core/HookChain"
import * as HookState from "@belay/core/HookState"
import * as Tool from "@belay/core/Tool"
import * as LoopDetector from "@belay/hooks/LoopDetector"
import * as TestScope from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { answer, call, standing } from "../../../../test/support/events.ts"

/** A tool that answers what `answer` says, and writes down that it ran. */

/** Runs one turn with these steps, and returns the advice for the model, the events and the result. */

const times = <A>(n: number, value: A): ReadonlyArray<A> => Array.from({ length: n }, () => value)

describe("LoopDetector in a chain", () => {
  const chain = HookChain.makeUnsafe([LoopDetector.make()])
  const refused = (stepNumber: number, local: HookState.Store, state = HookState.make()) => {
    const scope = TestScope.make({ stepNumber, local, state })
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
  it.effect("reports how often, and in how many minutes, a call failed with the same error", () =>
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
        const scope = TestScope.make({ local: state, stepNumber: index + 1 })
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
    "allows every call whose result is always new",
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
    "ends every cycle of up to four calls, and runs each at most four times after the last new result",
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

  it.effect("counts every agent of a tree separately", () =>
    Effect.gen(function*() {
      const state = HookState.make()
      const locals = [HookState.make(), HookState.make(), HookState.make()] as const
      for (const local of locals) {
        for (const stepNumber of [1, 2]) assert.strictEqual((yield* refused(stepNumber, local, state))._tag, "Continue")
      }
      assert.strictEqual((yield* refused(3, locals[2], state))._tag, "Reject")
      assert.strictEqual((yield* refused(2, locals[0], state))._tag, "Continue")
      assert.deepStrictEqual(state.snapshot(), {})
    }))

  it.effect("counts from the beginning in every turn", () =>
    Effect.gen(function*() {
      const state = HookState.make()
      for (let turnNumber = 1; turnNumber < 6; turnNumber++) {
        const scope = TestScope.make({ local: state, turnNumber })
        assert.strictEqual((yield* chain.run("postLlmCall", answer({ text: "yes" }), scope)).action._tag, "Continue")
        assert.deepEqual(scope.warnings, [])
      }
    }))

  it.effect("detects compactions without effect, skips them, and ends the turn", () =>
    Effect.gen(function*() {
      const users: Array<string> = []
      const scope = TestScope.make({ notifyUser: (message) => void users.push(message) })
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
      assert.match(users[0] ?? "", /compactions in a row that made nothing shorter/)
      const asked = yield* chain.run("preLlmCall", { messages: [], tools: [], parameters: {} }, scope)
      assert.deepEqual(asked.action, {
        _tag: "Abort",
        reason: "Loop detected: 8 compactions in a row that made nothing shorter. The turn was stopped."
      })
    }))

  it.effect("treats an effective compaction as progress", () =>
    Effect.gen(function*() {
      const scope = TestScope.make()
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

  it.effect("keeps a small state, whatever the number of calls and the length of their ids", () =>
    Effect.gen(function*() {
      const state = HookState.make()
      for (let n = 0; n < 600; n++) {
        yield* chain.run(
          "preToolCall",
          call("look", { n }, `${n}${"x".repeat(5_000)}`),
          TestScope.make({ local: state, stepNumber: n >> 8 })
        )
      }
      assert.isBelow(JSON.stringify(state.snapshot()).length, HookState.maxKey / 2)
    }))

  it("rejects invalid options", () => {
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
