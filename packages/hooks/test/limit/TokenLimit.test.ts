import { ConfigError } from "@belay/core/AgentError"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookChain from "@belay/core/HookChain"
import * as HookState from "@belay/core/HookState"
import type { LlmRequest } from "@belay/core/LlmCall"
import * as ProviderError from "@belay/core/ProviderError"
import * as TokenLimit from "@belay/hooks/TokenLimit"
import * as Scripted from "@belay/testing/Scripted"
import * as TestScope from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { answer, failed, request, spent } from "../../../../test/support/events.ts"

/** One token a character. */
const tokenizer = { count: (text: string) => text.length }

const limited = (options: TokenLimit.Options, state = HookState.make(), turnNumber = 1) => {
  const chain = HookChain.makeUnsafe([TokenLimit.make({ tokenizer, ...options })])
  const scope = TestScope.make({ state, turnNumber })
  return {
    scope,
    ask: (characters: number, more: Partial<LlmRequest> = {}) =>
      chain.run(
        "preLlmCall",
        { ...request(), messages: [{ role: "user", content: "x".repeat(characters) }], ...more },
        scope
      ),
    spend: (input: number, output: number) => chain.run("postLlmCall", spent(input, output), scope),
    chain
  }
}

describe("TokenLimit", () => {
  it.effect("rejects a request that is too long before the call", () =>
    Effect.gen(function*() {
      const { ask } = limited({ perRequest: { input: 100 } })
      assert.strictEqual((yield* ask(100)).action._tag, "Continue")
      assert.deepEqual((yield* ask(101)).action, {
        _tag: "Reject",
        reason: "limit of 100 input tokens per request reached: about 101 more to send"
      })
      const calls = [{ id: "1", name: "look", args: { q: "x".repeat(90) } }]
      const more = {
        messages: [{ role: "assistant" as const, content: "", toolCalls: calls }],
        instructions: "be brief"
      }
      assert.strictEqual((yield* ask(0, more)).action._tag, "Reject")
    }))

  it.effect.prop(
    "never starts a call that exceeds the limit of a turn",
    [Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 })))],
    ([sizes]) =>
      Effect.gen(function*() {
        const { ask, scope, spend } = limited({ perTurn: { input: 100 } })
        for (const size of sizes) {
          const { action } = yield* ask(size)
          const before = TokenLimit.used(scope.state).turn.input
          assert.strictEqual(action._tag, before + size <= 100 ? "Continue" : "Reject")
          if (action._tag === "Continue") yield* spend(size, 1)
        }
        assert.isAtMost(TokenLimit.used(scope.state).turn.input, 100)
      })
  )

  it.effect("limits the output of the model to the tokens that are left", () =>
    Effect.gen(function*() {
      const { ask, spend } = limited({
        perRequest: { output: 50 },
        perTurn: { output: 70 },
        perSession: { total: 200 }
      })
      const room = (characters: number, maxTokens?: number) =>
        Effect.map(
          ask(characters, maxTokens === undefined ? {} : { parameters: { maxTokens } }),
          ({ event }) => event.parameters.maxTokens
        )
      assert.strictEqual(yield* room(10), 50)
      assert.strictEqual(yield* room(10, 20), 20)
      assert.strictEqual(yield* room(160), 40)
      yield* spend(10, 45)
      assert.strictEqual(yield* room(10), 25)
      yield* spend(10, 25)
      assert.deepInclude((yield* ask(10)).action, {
        reason: "limit of 70 output tokens per turn reached: 70 used, about 0 more to send"
      })
    }))

  it.effect("counts each turn separately, and the whole session", () =>
    Effect.gen(function*() {
      const state = HookState.make()
      const options: TokenLimit.Options = { perTurn: { total: 100 }, perSession: { total: 250 } }
      for (const turn of [1, 2]) {
        const { ask, spend } = limited(options, state, turn)
        assert.notStrictEqual((yield* ask(1)).action._tag, "Reject")
        yield* spend(60, 40)
        assert.strictEqual((yield* ask(1)).action._tag, "Reject")
      }
      const third = limited(options, state, 3)
      assert.strictEqual((yield* third.ask(1)).event.parameters.maxTokens, 49)
      yield* third.spend(40, 9)
      assert.deepEqual(TokenLimit.used(state), { turn: { input: 40, output: 9 }, session: { input: 160, output: 89 } })
      assert.match(JSON.stringify((yield* third.ask(1)).action), /250 tokens per session/)
    }))

  it.effect("warns once at a share of the limit, and again when a soft limit is exceeded", () =>
    Effect.gen(function*() {
      const { ask, scope, spend } = limited({ perTurn: { total: 100 }, onLimit: "warn", warnAt: 0.5 })
      for (let n = 0; n < 12; n++) {
        assert.strictEqual((yield* ask(1)).action._tag, "Continue")
        yield* spend(5, 5)
      }
      assert.deepEqual(scope.warnings, ["50 of 100 tokens per turn used", "101 of 100 tokens per turn used"])
    }))

  it.effect("estimates tokens that the vendor does not report, and counts failed calls and billable tokens", () =>
    Effect.gen(function*() {
      const { chain, scope } = limited({ perSession: { total: 1_000 } })
      const used = () => TokenLimit.used(scope.state).session
      yield* chain.run("postLlmCall", answer({ text: "four" }), scope)
      assert.deepEqual(used(), { input: 5, output: 4 })
      yield* chain.run("postLlmCall", spent(10, 1, { billableOutputTokens: 30 }), scope)
      assert.deepEqual(used(), { input: 15, output: 34 })
      const partial = { text: "half", usage: { inputTokens: 5, outputTokens: 6 } }
      yield* chain.run(
        "onLlmError",
        failed({ error: new ProviderError.Connection({ provider: "one", message: "broke", partial }) }),
        scope
      )
      const billed = { text: "half", usage: { inputTokens: 1, outputTokens: 1, billableOutputTokens: 9 } }
      yield* chain.run(
        "onLlmError",
        failed({ error: new ProviderError.Connection({ provider: "one", message: "broke", partial: billed }) }),
        scope
      )
      yield* chain.run("onLlmError", failed(), scope)
      yield* chain.run("postLlmCall", { ...spent(100, 100), executed: false }, scope)
      yield* chain.run("postLlmCall", spent(Number.NaN, -5), scope)
      assert.deepEqual(used(), { input: 21, output: 49 })
    }))

  it("stops a loop in an agent that was resumed", async () => {
    const look = defineTool({ name: "look", description: "Look", input: Schema.Struct({}), execute: () => "seen" })
    const script = () => Scripted.make(Array.from({ length: 9 }, () => Scripted.toolCalls({ name: "look" })))
    const hook = () => TokenLimit.make({ perTurn: { input: 85 }, tokenizer: { count: () => 1 }, onLimit: "abort" })
    await using first = createAgent({ provider: script(), tools: [look], hooks: [hook()], limits: { steps: 3 } })
    const limitedRun = await first.run("go")
    if (limitedRun.status !== "limited") return assert.fail(limitedRun.status)
    const provider = script()
    await using second = createAgent({ provider, tools: [look], hooks: [hook()] })
    const ended = await second.resume(JSON.stringify(limitedRun.snapshot))
    assert.deepInclude(ended, { status: "aborted", by: "token-limit" })
    assert.lengthOf(provider.requests, 4)
  })

  it.effect.each([NaN, -1e9, Infinity, "1", undefined])(
    "stops the call if the tokenizer counts %s",
    (count) =>
      Effect.gen(function*() {
        const limit = limited({ perTurn: { total: 10 }, tokenizer: { count: () => count as number } })
        const { action } = yield* limit.ask(5)
        assert.strictEqual(action._tag, "Reject")
        assert.match(limit.scope.failures[0]?.message ?? "", /the tokenizer counted .*: a number from 0 is expected/)
      })
  )

  it("rejects invalid limits", () => {
    assert.throws(() => TokenLimit.make({ perTurn: { input: -1 } }), ConfigError, /token-limit\.perTurn\.input/)
    assert.throws(() => TokenLimit.make({ warnAt: 2 }), ConfigError, /warnAt: expected a number from 0 to 1, found 2/)
    assert.throws(() => TokenLimit.make({ onLimit: "no" as "warn" }), ConfigError, /onLimit/)
  })
})
