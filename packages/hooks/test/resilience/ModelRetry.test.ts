import { ConfigError } from "@belay/core/AgentError"
import * as AgentRuntime from "@belay/core/AgentRuntime"
import { createAgent } from "@belay/core/createAgent"
import * as HookChain from "@belay/core/HookChain"
import type { OnLlmErrorEvent } from "@belay/core/HookPoint"
import type { LlmProvider } from "@belay/core/LlmProvider"
import * as ProviderError from "@belay/core/ProviderError"
import * as ModelCallLimit from "@belay/hooks/ModelCallLimit"
import * as ModelRetry from "@belay/hooks/ModelRetry"
import * as ProviderFallback from "@belay/hooks/ProviderFallback"
import * as Scripted from "@belay/testing/Scripted"
import * as TestScope from "@belay/testing/TestScope"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { failed, overloaded, request } from "../../../../test/support/events.ts"

const about = { provider: "one", message: "no" }
const auth = new ProviderError.Auth(about)
const malformed = new ProviderError.Malformed(about)
const limitedFor = (retryAfterMs: number) => new ProviderError.RateLimited({ ...about, retryAfterMs })

const decisions = (options: ModelRetry.Options, failures: ReadonlyArray<Partial<OnLlmErrorEvent>>) => {
  const chain = HookChain.makeUnsafe([ModelRetry.make({ jitter: "none", ...options })])
  const scope = TestScope.make()
  return Effect.forEach(
    failures,
    (failure, index) =>
      Effect.map(
        chain.run("onLlmError", failed({ attempt: index + 1, ...failure }), scope),
        ({ event: { decision } }) =>
          decision.type === "retry" ? decision.delayMs : decision.type === "fallback" ? decision.provider : "fail"
      )
  )
}
const alone = { providers: ["one"] }
const times = (n: number, failure: Partial<OnLlmErrorEvent> = alone) => Array.from({ length: n }, () => failure)

describe("ModelRetry", () => {
  it.effect("retries twice by default, then tries the next provider, or fails without one", () =>
    Effect.gen(function*() {
      assert.deepEqual(yield* decisions({}, times(3)), [1_000, 2_000, "fail"])
      assert.deepEqual(yield* decisions({}, times(3, {})), [1_000, 2_000, "two"])
      assert.deepEqual(yield* decisions({ whenExhausted: "fail" }, times(3, {})), [1_000, 2_000, "fail"])
    }))

  it.effect("waits for the delays of the backoff options", () =>
    Effect.gen(function*() {
      const settings = { maxRetries: 4, initialDelayMs: 100, maxDelayMs: 350 }
      assert.deepEqual(yield* decisions({ ...settings, backoff: "constant" }, times(4)), [100, 100, 100, 100])
      assert.deepEqual(yield* decisions({ ...settings, backoff: "linear" }, times(4)), [100, 200, 300, 350])
      assert.deepEqual(yield* decisions({ ...settings, factor: 3 }, times(4)), [100, 300, 350, 350])
    }))

  const options: [
    Schema.Literals<readonly ["full", "equal"]>,
    Schema.Literals<readonly ["constant", "linear", "exponential"]>,
    typeof Schema.Int
  ] = [Schema.Literals(["full", "equal"]), Schema.Literals(["constant", "linear", "exponential"]), Schema.Int]
  it.effect.prop(
    "keeps random delays within their bounds, and repeats them for the same seed",
    options,
    ([jitter, backoff, seed]) =>
      Effect.gen(function*() {
        const pauses = (kind: "none" | "full" | "equal") =>
          decisions({ maxRetries: 5, backoff, jitter: kind }, times(5)).pipe(Random.withSeed(String(seed)))
        const [exact, some, again] = [yield* pauses("none"), yield* pauses(jitter), yield* pauses(jitter)]
        assert.deepEqual(some, again)
        for (const [index, most] of exact.entries()) {
          assert.isAtMost(some[index] as number, most as number)
          assert.isAtLeast(some[index] as number, jitter === "full" ? 0 : Math.floor(most as number / 2))
        }
      })
  )

  it.effect("waits as long as the vendor asks, up to a maximum", () =>
    Effect.gen(function*() {
      const failures = [{ ...alone, error: limitedFor(7_000) }, { ...alone, error: limitedFor(0) }, {
        ...alone,
        error: limitedFor(7_001)
      }]
      assert.deepEqual(yield* decisions({ maxRetryAfterMs: 7_000, maxRetries: 9 }, failures), [7_000, 0, "fail"])
      assert.deepEqual(yield* decisions({}, [{ error: limitedFor(60_001) }]), ["two"])
    }))

  it.effect("retries errors by kind, by function, or by their own policy", () =>
    Effect.gen(function*() {
      assert.deepEqual(yield* decisions({}, [{ ...alone, error: auth }]), ["fail"])
      assert.deepEqual(yield* decisions({ retryOn: ["Auth"] }, [{ ...alone, error: auth }, alone]), [1_000, "fail"])
      assert.deepEqual(
        yield* decisions({ retryOn: (error) => error.message === "no" }, [{ ...alone, error: auth }, alone]),
        [
          1_000,
          "fail"
        ]
      )
      const perError = { Auth: { maxRetries: 1, initialDelayMs: 5 }, Malformed: false } as const
      assert.deepEqual(yield* decisions({ perError }, times(2, { ...alone, error: auth })), [5, "fail"])
      assert.deepEqual(yield* decisions({ perError }, [{ ...alone, error: malformed }]), ["fail"])
    }))

  it.effect("counts each provider, model and call separately", () =>
    Effect.gen(function*() {
      const small = { ...alone, request: request("small-1") }
      assert.deepEqual(
        yield* decisions({ maxRetries: 1 }, [alone, alone, small, small, { ...alone, provider: "two" }]),
        [
          1_000,
          "fail",
          1_000,
          "fail",
          1_000
        ]
      )
    }))

  it.effect("does not retry a call after text has arrived, if the option says so", () =>
    Effect.gen(function*() {
      const broke = new ProviderError.Connection({ ...about, partial: { text: "half" } })
      assert.deepEqual(yield* decisions({}, [{ ...alone, error: broke }]), [1_000])
      assert.deepEqual(yield* decisions({ replay: "beforeFirstToken" }, [{ ...alone, error: broke }, alone]), [
        "fail",
        1_000
      ])
    }))

  it.effect("waits on the clock in an agent, and never retries what a hook refused", () =>
    Effect.gen(function*() {
      const provider = Scripted.make([overloaded, overloaded, "fine", overloaded, "never"])
      const hooks = [ModelRetry.make({ jitter: "none" }), ModelCallLimit.make({ perSession: 4 })]
      const runtime = yield* AgentRuntime.make({ provider, hooks })
      const session = yield* runtime.session()
      const fiber = yield* Effect.forkChild(session.run("go"), { startImmediately: true })
      yield* TestClock.adjust(2_999)
      assert.lengthOf(provider.requests, 2)
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* Fiber.join(fiber)).text, "fine")
      const refused = yield* Effect.flip(session.run("again"))
      assert.deepInclude(refused, { _tag: "HookRejected", hook: "model-call-limit" })
      assert.lengthOf(provider.requests, 4)
    }))

  it("answers the turn with a text when nothing helps, and only then", async () => {
    const provider = Scripted.make([overloaded, overloaded, "fine", auth])
    const hook = ModelRetry.make({ initialDelayMs: 0, whenExhausted: { respond: (error) => `Sorry (${error._tag}).` } })
    await using agent = createAgent({ provider, hooks: [hook] })
    const session = await agent.session()
    assert.strictEqual((await session.run("go")).text, "fine")
    assert.deepInclude(await session.run("go"), { status: "completed", text: "Sorry (Auth)." })
    assert.strictEqual(session.messages.at(-1)?.content, "Sorry (Auth).")
  })

  it("retries before a fallback if its patience allows it", async () => {
    const called: Array<string> = []
    const named = (name: string, script: ReadonlyArray<Scripted.Entry>): LlmProvider => {
      const scripted = Scripted.make(script, { name })
      return { name, complete: (asked) => Effect.suspend(() => (called.push(name), scripted.complete(asked))) }
    }
    const hooks = [
      ProviderFallback.make({ patience: "1 second" }),
      ModelRetry.make({ maxRetries: 1, initialDelayMs: 1 })
    ]
    await using agent = createAgent({
      provider: [named("one", [overloaded, overloaded]), named("two", ["from two"])],
      hooks
    })
    assert.strictEqual((await agent.run("go")).text, "from two")
    assert.deepEqual(called, ["one", "one", "two"])
  })

  it("rejects invalid options", () => {
    assert.throws(() => ModelRetry.make({ maxRetries: -1 }), ConfigError, /model-retry\.maxRetries/)
    assert.throws(() => ModelRetry.make({ factor: 0.5 }), ConfigError, /model-retry\.factor/)
    assert.throws(() => ModelRetry.make({ jitter: "some" as "full" }), ConfigError, /jitter/)
    assert.throws(
      () => ModelRetry.make({ perError: { Auth: { initialDelayMs: Number.NaN } } }),
      ConfigError,
      /perError\.Auth\.initialDelayMs/
    )
    assert.throws(() => ModelRetry.make({ maxRetryAfterMs: 60_001 }), ConfigError, /maxRetryAfterMs/)
    assert.throws(() => ModelRetry.make({ whenExhausted: "shrug" as "fail" }), ConfigError, /whenExhausted/)
  })
})
