/** Circuit breakers of providers, and models with windows of different sizes. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as AgentRuntime from "../../../src/agent/AgentRuntime.ts"
import { type LlmRequest, textResponse } from "../../../src/data/LlmCall.ts"
import { ContextOverflow, InvalidRequest, Overloaded, type ProviderError } from "../../../src/data/ProviderError.ts"
import type { LlmProvider } from "../../../src/port/LlmProvider.ts"

/** A provider that fails while `broken` says how, and counts its calls. */
const provider = (name: string, more: Partial<LlmProvider> = {}) => {
  const state = { calls: 0, broken: undefined as ProviderError | undefined, seen: [] as Array<LlmRequest> }
  const made: LlmProvider = {
    name,
    complete: (request) =>
      Effect.suspend(() => {
        state.calls++
        state.seen.push(request)
        return state.broken === undefined
          ? Effect.succeed(textResponse(`from ${name}`, name))
          : Effect.fail(state.broken)
      }),
    ...more
  }
  return { made, state }
}

const overloaded = (name: string) => new Overloaded({ provider: name, message: "busy" })

describe("a provider that fails again and again", () => {
  it.effect("is not called during the cooldown, then tried by one call, then used again", () =>
    Effect.gen(function*() {
      const primary = provider("primary")
      const backup = provider("backup")
      const runtime = yield* AgentRuntime.make({
        provider: [primary.made, backup.made],
        breaker: { failures: 3, cooldownMs: 10_000 }
      })
      const ask = Effect.map(runtime.run("hi"), ({ text }) => text)
      primary.state.broken = overloaded("primary")
      for (let i = 0; i < 3; i++) assert.strictEqual(yield* ask, "from backup")
      assert.strictEqual(primary.state.calls, 3)
      for (let i = 0; i < 4; i++) assert.strictEqual(yield* ask, "from backup")
      assert.strictEqual(primary.state.calls, 3, "left alone")

      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* ask, "from backup")
      assert.strictEqual(yield* ask, "from backup")
      assert.strictEqual(primary.state.calls, 4, "one probe a cooldown")

      yield* TestClock.adjust("10 seconds")
      primary.state.broken = undefined
      for (let i = 0; i < 3; i++) assert.strictEqual(yield* ask, "from primary")
      assert.strictEqual(primary.state.calls, 7)
    }))

  it.effect("is tried by one call at a time", () =>
    Effect.gen(function*() {
      const primary = provider("primary")
      const backup = provider("backup")
      const runtime = yield* AgentRuntime.make({
        provider: [primary.made, backup.made],
        breaker: { failures: 1, cooldownMs: 1_000 }
      })
      primary.state.broken = overloaded("primary")
      yield* runtime.run("hi")
      yield* TestClock.adjust("1 second")
      yield* Effect.all(Array.from({ length: 20 }, () => runtime.run("hi")), { concurrency: "unbounded" })
      assert.strictEqual(primary.state.calls, 2)
      assert.strictEqual(backup.state.calls, 21)
    }))

  it.effect("is tried by one call at a time, also while that call is still waiting for the answer", () =>
    Effect.gen(function*() {
      const answer = yield* Deferred.make<void>()
      const primary = provider("primary")
      const backup = provider("backup")
      const runtime = yield* AgentRuntime.make({
        provider: [
          {
            ...primary.made,
            complete: (request) =>
              Effect.andThen(
                primary.state.calls === 1 ? Effect.sync(() => void primary.state.calls++) : Effect.void,
                primary.state.calls === 1
                  ? Effect.as(Deferred.await(answer), textResponse("from primary", "primary"))
                  : primary.made.complete(request)
              )
          },
          backup.made
        ],
        breaker: { failures: 1, cooldownMs: 1_000 }
      })
      primary.state.broken = overloaded("primary")
      yield* runtime.run("hi")
      yield* TestClock.adjust("1 second")
      const probe = yield* Effect.forkChild(runtime.run("hi"), { startImmediately: true })
      for (let n = 0; n < 3; n++) assert.strictEqual((yield* runtime.run("hi")).text, "from backup")
      assert.strictEqual(primary.state.calls, 2, "the probe is the only call")
      yield* Deferred.succeed(answer, undefined)
      assert.strictEqual((yield* Fiber.join(probe)).text, "from primary")
      primary.state.broken = undefined
      assert.strictEqual((yield* runtime.run("hi")).text, "from primary")
    }))

  it.effect("is called anyway if it is the only one, or if all are failing", () =>
    Effect.gen(function*() {
      const only = provider("only")
      only.state.broken = overloaded("only")
      const alone = yield* AgentRuntime.make({
        provider: only.made,
        breaker: { failures: 1, cooldownMs: 60_000 },
        limits: { attempts: 1 }
      })
      yield* alone.run("hi")
      yield* alone.run("hi")
      assert.strictEqual(only.state.calls, 2)

      const [first, second] = [provider("first"), provider("second")]
      first.state.broken = overloaded("first")
      second.state.broken = overloaded("second")
      const both = yield* AgentRuntime.make({
        provider: [first.made, second.made],
        breaker: { failures: 1, cooldownMs: 60_000 }
      })
      yield* Effect.flip(both.run("hi")).pipe(
        Effect.forkChild({ startImmediately: true }),
        Effect.tap(() => TestClock.adjust("5 seconds"))
      )
      const calls = first.state.calls
      yield* Effect.flip(both.run("hi")).pipe(
        Effect.forkChild({ startImmediately: true }),
        Effect.tap(() => TestClock.adjust("5 seconds"))
      )
      assert.isAbove(first.state.calls, calls)
    }))

  it.effect("is not blamed for a request that is wrong", () =>
    Effect.gen(function*() {
      const primary = provider("primary")
      const runtime = yield* AgentRuntime.make({
        provider: [primary.made, provider("backup").made],
        breaker: { failures: 1, cooldownMs: 60_000 }
      })
      primary.state.broken = new InvalidRequest({ provider: "primary", message: "bad parameter" })
      assert.strictEqual((yield* Effect.flip(runtime.run("hi")))._tag, "InvalidRequest")
      primary.state.broken = undefined
      const { text } = yield* runtime.run("hi")
      assert.strictEqual(text, "from primary")
    }))
})

describe("a request that is too long even after compaction", () => {
  const overflow = new ContextOverflow({ provider: "small", message: "too long", limit: 8_000 })

  it.effect("goes to the first larger model, and skips one that is not larger", () =>
    Effect.gen(function*() {
      const small = provider("small", { contextWindow: 8_000 })
      const same = provider("same", { contextWindow: 8_000 })
      const large = provider("large", { contextWindow: 128_000 })
      small.state.broken = overflow
      const runtime = yield* AgentRuntime.make({
        provider: [small.made, same.made, provider("unknown").made, large.made]
      })
      assert.strictEqual((yield* runtime.run("hi")).text, "from large")
      assert.strictEqual(same.state.calls, 0)
    }))

  it.effect("fails as an overflow when no larger one is there", () =>
    Effect.gen(function*() {
      const small = provider("small", { contextWindow: 8_000 })
      small.state.broken = overflow
      const runtime = yield* AgentRuntime.make({ provider: [small.made, provider("other").made] })
      assert.strictEqual((yield* Effect.flip(runtime.run("hi")))._tag, "ContextOverflow")
    }))
})

describe("the window", () => {
  it.effect("is measured by the provider's own tokenizer, unless the agent has one", () =>
    Effect.gen(function*() {
      const counted: Array<string> = []
      const counting = (name: string) => ({ count: (text: string) => (counted.push(name), text.length) })
      const one = provider("one", { tokenizer: counting("provider") })
      const window = { tokens: 1_000 }
      yield* (yield* AgentRuntime.make({ provider: one.made, window })).run("hi")
      assert.deepEqual([...new Set(counted)], ["provider"])
      counted.length = 0
      yield* (yield* AgentRuntime.make({ provider: one.made, window, tokenizer: counting("agent") })).run("hi")
      assert.deepEqual([...new Set(counted)], ["agent"])
    }))
})
