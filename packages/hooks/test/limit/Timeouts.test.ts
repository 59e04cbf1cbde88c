import { ConfigError } from "@belay/core/AgentError"
import * as AgentRuntime from "@belay/core/AgentRuntime"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import type { LlmResponse } from "@belay/core/LlmCall"
import { textResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import { type ProviderError, RateLimited } from "@belay/core/ProviderError"
import * as Timeouts from "@belay/hooks/Timeouts"
import * as Scripted from "@belay/testing/Scripted"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { settableClock } from "../../../../test/support/settableClock.ts"

/** Never answers, and its finalizer never ends. */
const stuck = (stopped: Array<string>): Effect.Effect<LlmResponse> =>
  Effect.never.pipe(Effect.onInterrupt(() => {
    stopped.push("stopped")
    return Effect.never
  }))

const hanging = (name: string, toolResult: Effect.Effect<string> = Effect.never) =>
  defineTool({ name, description: name, input: Schema.Struct({}), execute: () => toolResult })

const run = (
  options: Timeouts.Options,
  script: ReadonlyArray<Scripted.Entry>,
  tools: ReadonlyArray<ReturnType<typeof hanging>> = []
) =>
  Effect.gen(function*() {
    const provider = Scripted.make(script)
    const runtime = yield* AgentRuntime.make({ provider, tools, hooks: [Timeouts.make(options)] })
    const fiber = yield* Effect.forkChild(Effect.result(runtime.run("go")), { startImmediately: true })
    return { fiber, provider, runtime }
  })

/** Ends exactly when `at` has passed, and not before. */
const endsAt = <A, E>(fiber: Fiber.Fiber<A, E>, at: Duration.Input & number) =>
  Effect.gen(function*() {
    yield* TestClock.adjust(at - 1)
    assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust(1)
    return yield* Fiber.join(fiber)
  })

const asks = (...names: ReadonlyArray<string>) => () => Scripted.toolCalls(...names.map((name) => ({ name })))

describe("Timeouts", () => {
  it.live("holds when somebody sets the clock of the machine back, or on", () =>
    Effect.gen(function*() {
      const { clock, move } = yield* settableClock
      const set = (ms: number) => Effect.sync(() => move(ms))
      const provider = Scripted.make([
        Effect.andThen(set(-3_600_000), stuck([])),
        Effect.as(set(7_200_000), textResponse("here"))
      ])
      const limits = Timeouts.make({ llmCall: "50 millis", turn: "1 hour" })
      const runtime = yield* AgentRuntime.make({ provider, tools: [], hooks: [limits] })
      const { text } = yield* Effect.provideService(runtime.run("go"), Clock.Clock, clock)
      assert.deepStrictEqual([text, provider.requests.length], ["here", 2])
    }))

  it.effect("fail a model call that takes too long, which is retried like other failures, even if it ignores its interruption", () =>
    Effect.gen(function*() {
      const stopped: Array<string> = []
      const { fiber, provider } = yield* run({ llmCall: "10 seconds" }, [stuck(stopped), "late but here"])
      yield* TestClock.adjust(9_999)
      assert.lengthOf(stopped, 0)
      yield* TestClock.adjust(1)
      assert.deepEqual(stopped, ["stopped"])
      yield* TestClock.adjust(1_000)
      const result = yield* Fiber.join(fiber)
      assert.deepInclude(result._tag === "Success" ? result.success : {}, { text: "late but here" })
      assert.lengthOf(provider.requests, 2)
    }))

  it.effect("do not affect calls that are fast enough", () =>
    Effect.gen(function*() {
      const slow = Effect.delay(Effect.succeed(textResponse("here")), 900)
      const options = { turn: 5_000, step: 4_000, llmCall: 1_000, tool: 1_000, firstChunk: 1_000, chunk: 1_000 }
      const { fiber } = yield* run(options, [asks("look"), slow], [
        hanging("look", Effect.delay(Effect.succeed("seen"), 900))
      ])
      const result = yield* endsAt(fiber, 1_800)
      assert.deepInclude(result._tag === "Success" ? result.success : {}, { status: "completed", text: "here" })
    }))

  it.effect("end a turn in the middle of a model call, without a retry", () =>
    Effect.gen(function*() {
      const { fiber, provider } = yield* run({ turn: 5_000 }, [stuck([]), "never"])
      const result = yield* endsAt(fiber, 5_000)
      assert.deepInclude(result._tag === "Success" ? result.success : {}, {
        status: "aborted",
        by: "timeouts",
        reason: "the turn took longer than 5000 ms and was stopped"
      })
      assert.lengthOf(provider.requests, 1)
    }))

  it.effect("end a turn during a tool, or before a wait that would be too long", () =>
    Effect.gen(function*() {
      const first = yield* run({ turn: 5_000 }, [asks("look"), "never"], [hanging("look")])
      const result = yield* endsAt(first.fiber, 5_000)
      assert.deepInclude(result._tag === "Success" ? result.success : {}, { status: "aborted", by: "timeouts" })
      assert.lengthOf(first.provider.requests, 1)

      const busy = new RateLimited({ provider: "one", message: "later", retryAfterMs: 20_000 })
      const second = yield* run({ turn: 5_000 }, [busy, "never"])
      assert.deepInclude(yield* Fiber.join(second.fiber), { _tag: "Success" })
      assert.lengthOf(second.provider.requests, 1)
    }))

  it.effect("fail a step that takes too long, and start a new limit for the next one", () =>
    Effect.gen(function*() {
      const half = Effect.delay(Effect.succeed(Scripted.toolCalls({ name: "look" })), 600)
      const { fiber } = yield* run({ step: 1_000 }, [half, half, stuck([])], [hanging("look")])
      const result = yield* endsAt(fiber, 3_000)
      assert.deepInclude(result._tag === "Failure" ? result.failure : {}, { _tag: "Timeout", phase: "total" })
    }))

  for (const as of ["error", "feedback"] as const) {
    it.effect(`stop a tool at its own limit, and give the model a result as ${as}`, () =>
      Effect.gen(function*() {
        const options = { tool: 1_000, perTool: { "build_*": 3_000, look: 2_000 }, onToolTimeout: as }
        const tools = ["look", "build_all", "other"].map((name) => hanging(name))
        const { fiber, provider } = yield* run(options, [asks("look", "build_all", "other"), "done"], tools)
        yield* endsAt(fiber, 3_000)
        const results = provider.requests[1]!.messages.flatMap((message) => message.role === "tool" ? [message] : [])
        assert.deepEqual(
          results.map(({ content }) => /within (\d+) ms and was stopped/.exec(JSON.stringify(content))?.[1]),
          [
            "2000",
            "3000",
            "1000"
          ]
        )
        assert.deepEqual(results.map(({ isError }) => isError === true), [
          as === "error",
          as === "error",
          as === "error"
        ])
      }))
  }

  it.effect("abort the signal of a tool that takes too long", () =>
    Effect.gen(function*() {
      const reasons: Array<boolean> = []
      const asked = defineTool({
        name: "look",
        description: "look",
        input: Schema.Struct({}),
        execute: (_args, { signal }) =>
          new Promise<string>(() => signal.addEventListener("abort", () => reasons.push(signal.aborted)))
      })
      const runtime = yield* AgentRuntime.make({
        provider: Scripted.make([asks("look"), "done"]),
        tools: [asked],
        hooks: [Timeouts.make({ tool: 50 })]
      })
      const fiber = yield* Effect.forkChild(runtime.run("go"), { startImmediately: true })
      yield* TestClock.adjust(50)
      assert.strictEqual((yield* Fiber.join(fiber)).text, "done")
      assert.deepEqual(reasons, [true])
    }))

  it.effect("apply only to the tools of the option", () =>
    Effect.gen(function*() {
      const slow = Effect.delay(Effect.succeed("slow"), 5_000)
      const { fiber, provider } = yield* run({ tool: 1_000, tools: "look" }, [asks("look", "other"), "done"], [
        hanging("look", slow),
        hanging("other", slow)
      ])
      yield* endsAt(fiber, 5_000)
      assert.deepEqual(
        provider.requests[1]!.messages.flatMap((message) => message.role === "tool" ? [message.content] : []),
        [
          "look did not answer within 1000 ms and was stopped",
          "slow"
        ]
      )
    }))
})

describe("Timeouts of a stream", () => {
  /** Sends a piece after each of these pauses. */
  const streaming = (...pauses: ReadonlyArray<number>): LlmProvider => ({
    name: "streaming",
    complete: () => Effect.die("not streamed"),
    stream: (_request, sink) =>
      Effect.gen(function*() {
        for (const pause of pauses) {
          yield* Effect.sleep(pause)
          sink({ type: "text", text: "x" })
        }
        return textResponse("x".repeat(pauses.length))
      })
  })
  const streamed = (options: Timeouts.Options, ...pauses: ReadonlyArray<number>) =>
    Effect.gen(function*() {
      const once = { name: "once", onLlmError: () => HookAction.transform({ type: "fail" } as const) }
      const hooks = [Timeouts.make(options), once]
      const runtime = yield* AgentRuntime.make({ provider: streaming(...pauses), hooks })
      return yield* Effect.forkChild(Effect.result(runtime.run("go")), { startImmediately: true })
    })

  it.effect("limit the time to the first part, and between parts", () =>
    Effect.gen(function*() {
      const late = yield* endsAt(yield* streamed({ firstChunk: 1_000, chunk: 500 }, 1_001), 1_000)
      assert.deepInclude(late._tag === "Failure" ? late.failure as ProviderError : {}, {
        _tag: "Timeout",
        phase: "first-event",
        message: "the model call took longer than 1000 ms to send the first part"
      })
      for (const bounds of [{ chunk: 500 }, { firstChunk: 60_000, chunk: 500 }, { llmCall: 60_000, chunk: 500 }]) {
        const sooner = yield* endsAt(yield* streamed(bounds, 900, 10_000), 1_400)
        assert.deepInclude(sooner._tag === "Failure" ? sooner.failure as ProviderError : {}, {
          _tag: "Timeout",
          phase: "idle"
        })
      }
      const stalled = yield* endsAt(yield* streamed({ firstChunk: 1_000, chunk: 500 }, 900, 400, 400, 501), 2_200)
      assert.deepInclude(stalled._tag === "Failure" ? stalled.failure as ProviderError : {}, {
        _tag: "Timeout",
        phase: "idle"
      })
    }))

  it.effect("do not limit a stream that keeps sending", () =>
    Effect.gen(function*() {
      const fine = yield* endsAt(yield* streamed({ chunk: 500 }, 3_000, 499, 499, 499), 4_497)
      assert.deepInclude(fine._tag === "Success" ? fine.success : {}, { text: "xxxx" })
    }))

  it.effect("limit the whole call as well", () =>
    Effect.gen(function*() {
      const cut = yield* endsAt(yield* streamed({ chunk: 500, llmCall: 1_000 }, 400, 400, 400), 1_000)
      assert.deepInclude(cut._tag === "Failure" ? cut.failure as ProviderError : {}, { phase: "total" })
    }))
})

describe("Timeouts.make", () => {
  it("rejects invalid durations", () => {
    assert.throws(
      () => Timeouts.make({ turn: 0 }),
      ConfigError,
      /timeouts\.turn: expected a duration above zero, found 0/
    )
    assert.throws(() => Timeouts.make({ llmCall: "soon" as "1 second" }), ConfigError, /timeouts\.llmCall/)
    assert.throws(() => Timeouts.make({ perTool: { build: -1 } }), ConfigError, /timeouts\.perTool\["build"\]/)
    assert.throws(() => Timeouts.make({ onToolTimeout: "no" as "error" }), ConfigError, /onToolTimeout/)
  })
})
