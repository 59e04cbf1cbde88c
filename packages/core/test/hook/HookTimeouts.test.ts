import { make as scopeOf, type TestScope } from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import type { AgentHook } from "../../src/hook/AgentHook.ts"
import * as HookAction from "../../src/hook/HookAction.ts"
import * as HookChain from "../../src/hook/HookChain.ts"
import type { HookContext } from "../../src/hook/HookContext.ts"
import * as HookState from "../../src/hook/HookState.ts"

const calls = HookState.key("calls", 0)

const never = new Promise<never>(() => {})

/** Runs `preTurn` with one hook. */
const runHook = (hook: AgentHook, scope: TestScope) =>
  HookChain.makeUnsafe([hook]).run("preTurn", { message: "x" }, scope)

/** What a hook does if nobody stops it. A timeout ends the wait before that, also on a busy machine. */
const [work, workMs] = ["4 seconds", 4_000] as const

describe("a timeout bounds", () => {
  const slow: ReadonlyArray<readonly [string, () => unknown]> = [
    ["a promise that never settles", () => never],
    ["an Effect that never ends", () => Effect.never],
    ["an uninterruptible Effect", () => Effect.uninterruptible(Effect.sleep(work))],
    ["a finalizer that hangs", () => Effect.ensuring(Effect.never, Effect.sleep(work))],
    ["a busy Effect that yields", () => Effect.forever(Effect.yieldNow)],
    ["a thenable that never answers", () => ({
      // oxlint-disable-next-line unicorn/no-thenable -- a hook may return any thenable
      then: () => {}
    })],
    ["a sleeping generator", function*() {
      yield* Effect.sleep(work)
    }]
  ]
  for (const [what, method] of slow) {
    it.live(what, () =>
      Effect.gen(function*() {
        const scope = scopeOf()
        const began = performance.now()
        const outcome = yield* runHook(
          { name: "slow", timeout: "20 millis", failOpen: false, preTurn: method } as AgentHook,
          scope
        )
        const took = performance.now() - began
        assert.isAtLeast(took, 15)
        assert.isBelow(took, workMs)
        assert.deepInclude(scope.failures[0], { hook: "slow", kind: "timeout", message: "no answer within 20 ms" })
        assert.lengthOf(scope.failures, 1)
        assert.strictEqual(outcome.action._tag, "Reject")
        assert.deepEqual(scope.late, [])
      }))
  }

  it.live("each hook, so that a chain takes at most the sum", () =>
    Effect.gen(function*() {
      const scope = scopeOf()
      const hooks = ["a", "b", "c", "d"].map((name): AgentHook => ({ name, timeout: 20, preTurn: () => never }))
      const began = performance.now()
      const outcome = yield* HookChain.makeUnsafe(hooks).run("preTurn", { message: "x" }, scope)
      assert.isBelow(performance.now() - began, workMs)
      assert.strictEqual(outcome.action._tag, "Continue")
      assert.deepEqual(scope.records[0]!.hooks.map(({ answer, hook, why }) => `${hook} ${answer} ${why}`), [
        "a failed-open timeout: no answer within 20 ms",
        "b failed-open timeout: no answer within 20 ms",
        "c failed-open timeout: no answer within 20 ms",
        "d failed-open timeout: no answer within 20 ms"
      ])
    }))

  it.effect("Effect hooks by the test clock, 30 seconds by default and never with none", () =>
    Effect.gen(function*() {
      const run = (options: Partial<AgentHook>) => {
        const scope = scopeOf()
        const hook: AgentHook = { name: "slow", ...options, preTurn: () => Effect.never }
        return Effect.map(
          Effect.forkChild(runHook(hook, scope), { startImmediately: true }),
          (fiber) => ({ fiber, scope })
        )
      }
      const byDefault = yield* run({})
      const none = yield* run({ timeout: "none" })
      const long = yield* run({ timeout: "24 hours" })
      yield* TestClock.adjust("29999 millis")
      assert.isUndefined(byDefault.fiber.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.isDefined(byDefault.fiber.pollUnsafe())
      assert.strictEqual(byDefault.scope.failures[0]!.message, "no answer within 30000 ms")
      yield* TestClock.adjust("24 hours")
      assert.isDefined(long.fiber.pollUnsafe())
      assert.isUndefined(none.fiber.pollUnsafe())
      yield* Fiber.interrupt(none.fiber)
    }))
})

describe("a hook that timed out", () => {
  it.effect("is interrupted at once, so that it does not continue its work", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const work = Effect.onInterrupt(
        Effect.andThen(Effect.sleep("1 minute"), Effect.sync(() => void seen.push("worked on"))),
        () => Effect.sync(() => void seen.push("interrupted"))
      )
      const effect: AgentHook = { name: "effect", timeout: "1 second", preTurn: () => work }
      const generator: AgentHook = {
        name: "generator",
        timeout: "1 second",
        *preTurn() {
          yield* work
        }
      }
      for (const hook of [effect, generator]) {
        seen.length = 0
        const fiber = yield* Effect.forkChild(runHook(hook, scopeOf()), { startImmediately: true })
        yield* TestClock.adjust("1 second")
        assert.isDefined(fiber.pollUnsafe())
        assert.deepStrictEqual(seen, ["interrupted"], hook.name)
        yield* TestClock.adjust("2 minutes")
        assert.deepStrictEqual(seen, ["interrupted"], hook.name)
      }
    }))
})

// rows: DEC-35
describe("after its timeout", () => {
  /** A hook that does everything it can, but too late. */
  const tooLate = (finish: Promise<unknown>, answer: () => unknown): AgentHook => ({
    name: "slow",
    timeout: 10,
    preTurn: async (_input, ctx) => {
      ctx.state.update(calls, (n) => n + 1)
      await finish
      Object.assign(ctx, { revoked: false })
      ctx.state.update(calls, (n) => n + 100)
      ctx.state.set(calls, 1000)
      ctx.inject("late words")
      ctx.warn("late warning")
      ctx.notifyUser("late notice")
      ctx.followUp("late task")
      ctx.events.emit("late", {})
      return answer() as HookAction.Continue
    }
  })

  it.live("nothing that a promise hook does counts, and everything is reported", () =>
    Effect.gen(function*() {
      for (const answer of [() => HookAction.transform({ message: "late" }), () => Promise.reject(new Error("late"))]) {
        const scope = scopeOf()
        const { promise, resolve } = Promise.withResolvers<void>()
        const outcome = yield* runHook(tooLate(promise, answer), scope)
        resolve()
        yield* Effect.sleep(5)
        assert.deepEqual(outcome.event, { message: "x" })
        assert.strictEqual(scope.state.get(calls), 1)
        assert.deepEqual(scope.actions, [])
        assert.deepEqual(scope.late, [
          "slow write of calls",
          "slow write of calls",
          "slow injection",
          "slow warning",
          "slow notice",
          "slow follow-up",
          "slow event late",
          "slow answer"
        ])
      }
    }))

  it.live("an uninterruptible Effect's writes and answer are dropped and reported", () =>
    Effect.gen(function*() {
      const scope = scopeOf()
      const hook: AgentHook = {
        name: "slow",
        timeout: 10,
        preTurn: (_input, ctx) =>
          Effect.uninterruptible(Effect.andThen(Effect.sleep(40), Effect.sync(() => ctx.state.set(calls, 7))))
      }
      const outcome = yield* runHook(hook, scope)
      yield* Effect.sleep(80)
      assert.strictEqual(outcome.action._tag, "Continue")
      assert.strictEqual(scope.state.get(calls), 0)
      // The answer itself is an interruption: the Effect was asked to stop, and did when it could.
      assert.include(scope.late, "slow write of calls")
    }))

  it.live("the same hook starts with a new context at the next point", () =>
    Effect.gen(function*() {
      const scope = scopeOf()
      let first: HookContext | undefined
      const chain = HookChain.makeUnsafe([{
        name: "slow",
        timeout: 10,
        preTurn: (_input, ctx) => {
          first = ctx
          return never
        },
        preLlmCall: (_request, ctx) => void ctx.state.update(calls, (n) => n + 1)
      }])
      yield* chain.run("preTurn", { message: "x" }, scope)
      yield* chain.run("preLlmCall", { messages: [], tools: [], parameters: {} }, scope)
      assert.strictEqual(scope.state.get(calls), 1)
      first!.state.set(calls, 50)
      assert.strictEqual(scope.state.get(calls), 1)
      assert.deepEqual(scope.late, ["slow write of calls"])
    }))
})

// rows: DEC-25
describe("interruption from outside", () => {
  const interrupted = (method: (ctx: HookContext) => unknown, scope: TestScope, options: Partial<AgentHook> = {}) =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      const chain = HookChain.makeUnsafe([
        {
          name: "slow",
          failOpen: false,
          ...options,
          preTurn: (_input: unknown, ctx: HookContext) => method(ctx)
        } as AgentHook,
        { name: "next", preTurn: () => void asked.push("next") }
      ])
      const fiber = yield* Effect.forkChild(chain.run("preTurn", { message: "x" }, scope), { startImmediately: true })
      yield* Effect.sleep(5)
      const began = performance.now()
      yield* Fiber.interrupt(fiber)
      assert.isBelow(performance.now() - began, workMs)
      assert.deepEqual(asked, [])
      return yield* Fiber.await(fiber)
    })

  for (const failOpen of [true, false]) {
    it.live(`reaches the hook and is neither open nor closed (failOpen ${failOpen})`, () =>
      Effect.gen(function*() {
        const scope = scopeOf()
        let released = false
        const exit = yield* interrupted(
          () =>
            Effect.onInterrupt(Effect.never, () =>
              Effect.sync(() => {
                released = true
              })),
          scope,
          { failOpen }
        )
        assert.isTrue(Exit.hasInterrupts(exit))
        assert.isTrue(released)
        assert.deepEqual(scope.failures, [])
        assert.deepEqual(scope.records[0]!.hooks.map(({ answer, hook }) => `${hook} ${answer}`), ["slow cancelled"])
      }))
  }

  it.live("does not wait for an uninterruptible hook, whose writes no longer count", () =>
    Effect.gen(function*() {
      const scope = scopeOf()
      const gate = Promise.withResolvers<void>()
      const written = Promise.withResolvers<void>()
      const exit = yield* interrupted(
        (ctx) =>
          Effect.uninterruptible(Effect.andThen(
            Effect.promise(() => gate.promise),
            Effect.sync(() => {
              ctx.state.set(calls, 9)
              written.resolve()
            })
          )),
        scope
      )
      assert.isTrue(Exit.hasInterrupts(exit))
      gate.resolve()
      yield* Effect.promise(() => written.promise)
      assert.strictEqual(scope.state.get(calls), 0)
    }))

  it.live("ends the wait for a promise, whose rejection is ignored", () =>
    Effect.gen(function*() {
      const scope = scopeOf()
      const { promise, reject } = Promise.withResolvers<never>()
      const exit = yield* interrupted(() => promise, scope)
      assert.isTrue(Exit.hasInterrupts(exit))
      reject(new Error("too late"))
      yield* Effect.sleep(5)
      assert.deepEqual(scope.late, ["slow answer"])
    }))
})
