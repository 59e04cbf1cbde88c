/** When the model fails: retry, fall back, compact, give up; what was shown is taken back. */
import * as VirtualClock from "@belay/testing/VirtualClock"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as AgentRuntime from "../../../src/agent/AgentRuntime.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { AgentEvent } from "../../../src/data/AgentEvent.ts"
import type { RetryDecision } from "../../../src/data/LlmCall.ts"
import * as ProviderError from "../../../src/data/ProviderError.ts"
import type { TurnPartial } from "../../../src/data/TurnPartial.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { assertValid, failureOf, line, screen } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

const provider = "one"
const message = "no luck"
const quick = (): RetryDecision => ({ type: "retry", delayMs: 0 })

describe("a failed call", () => {
  // rows: A-06, DEC-41
  it("gives onLlmError the attempt, from 1, and does what the hook decides", async () => {
    const attempts: Array<string> = []
    const model = scripted([
      new ProviderError.ServerError({ provider, message }),
      new ProviderError.Timeout({ provider, message, phase: "idle" }),
      "fine"
    ])
    await using agent = createAgent({
      provider: model.provider,
      hooks: [{
        name: "h",
        onLlmError: ({ attempt, decision, error, providers, request }) => {
          attempts.push(`${attempt} ${error._tag} ${providers.join()} ${decision.type} ${request.messages.length}`)
          return HookAction.transform(quick())
        }
      }]
    })
    assert.strictEqual((await agent.run("go")).text, "fine")
    assert.deepStrictEqual(attempts, ["1 ServerError one retry 1", "2 Timeout one retry 1"])
  })

  it.effect("is tried again after the time the vendor asks for, or after a growing pause", () =>
    Effect.gen(function*() {
      const model = scripted([
        new ProviderError.RateLimited({ provider, message, retryAfterMs: 20_000 }),
        new ProviderError.Overloaded({ provider, message }),
        "fine"
      ])
      const runtime = yield* AgentRuntime.make({ provider: model.provider })
      const fiber = yield* Effect.forkChild(runtime.run("go"))
      yield* TestClock.adjust(19_999)
      assert.lengthOf(model.requests, 1)
      yield* TestClock.adjust(1)
      assert.lengthOf(model.requests, 2)
      // With jitter: between half of 500 ms and all of it.
      yield* TestClock.adjust(249)
      assert.lengthOf(model.requests, 2)
      yield* TestClock.adjust(251)
      assert.strictEqual((yield* Fiber.join(fiber)).text, "fine")
    }))

  it.effect("is tried again after a minute at most, whatever a hook or the vendor asks for", () =>
    Effect.gen(function*() {
      const model = scripted([new ProviderError.Overloaded({ provider, message }), "fine"])
      const runtime = yield* AgentRuntime.make({
        provider: model.provider,
        hooks: [{ name: "h", onLlmError: () => HookAction.transform({ type: "retry", delayMs: 86_400_000 }) }]
      })
      const fiber = yield* Effect.forkChild(runtime.run("go"))
      yield* TestClock.adjust(59_999)
      assert.lengthOf(model.requests, 1)
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* Fiber.join(fiber)).text, "fine")
    }))

  it.effect("is not tried again if the vendor asks for more than a minute", () =>
    Effect.gen(function*() {
      const asksFor = (retryAfterMs: number) =>
        scripted([new ProviderError.RateLimited({ provider, message, retryAfterMs }), "fine"])
      const late = asksFor(60_001)
      const failed = yield* Effect.flip((yield* AgentRuntime.make({ provider: late.provider })).run("go"))
      assert.deepStrictEqual([failed._tag, late.requests.length], ["RateLimited", 1])
      const fiber = yield* Effect.forkChild(
        (yield* AgentRuntime.make({ provider: asksFor(60_000).provider })).run("go")
      )
      yield* TestClock.adjust(60_000)
      assert.strictEqual((yield* Fiber.join(fiber)).text, "fine")
    }))

  it("is retried twice; if there is another provider, that one is used first", async () => {
    const down = new ProviderError.ServerError({ provider, message })
    const alone = scripted([], { after: down })
    await using clock = VirtualClock.make()
    await using one = createAgent({ provider: alone.provider, hooks: [], layer: clock.layer })
    const failure = failureOf(one.run("go"))
    await clock.advance(2_000)
    assert.strictEqual((await failure)["_tag"], "ServerError")
    assert.lengthOf(alone.requests, 3)

    const first = scripted([], { after: down })
    const second = scripted([], { name: "two", model: "model-2", after: down })
    const third = scripted(["from three"], { name: "three" })
    const order: Array<string> = []
    await using two = createAgent({ provider: [first.provider, second.provider, third.provider], model: "model-1" })
    two.on((event) =>
      void (event.type === "llm-start" && order.push(`${event.provider} ${event.model} ${event.attempt}`))
    )
    assert.strictEqual((await two.run("go")).text, "from three")
    assert.deepStrictEqual(order, ["one model-1 1", "two model-2 2", "three model-1 3"])
  })

  it("uses another provider at once, also if the vendor asks for a wait", async () => {
    const limited = new ProviderError.RateLimited({ provider, message, retryAfterMs: 5_000 })
    const first = scripted([], { after: limited })
    const second = scripted(["from two"], { name: "two" })
    await using agent = createAgent({ provider: [first.provider, second.provider] })
    assert.strictEqual((await agent.run("go")).text, "from two")
    assert.lengthOf(first.requests, 1)
  })

  it("is not retried if that cannot help", async () => {
    const errors = [
      new ProviderError.Auth({ provider, message }),
      new ProviderError.Permission({ provider, message }),
      new ProviderError.NotFound({ provider, message }),
      new ProviderError.InvalidRequest({ provider, message }),
      new ProviderError.ContentFiltered({ provider, message }),
      new ProviderError.QuotaExceeded({ provider, message }),
      new ProviderError.RateLimited({ provider, message, retryAfterMs: 3_600_000 })
    ]
    for (const error of errors) {
      const model = scripted([], { after: error })
      await using agent = createAgent({ provider: model.provider })
      const { partial, ...failed } = await failureOf(agent.run("go"))
      assert.deepStrictEqual(failed, { ...error })
      assert.lengthOf((partial as TurnPartial).messages, 1)
      assert.lengthOf(model.requests, 1)
    }
  })

  it("uses the backup immediately if the key is wrong, and no other provider if the request is wrong", async () => {
    for (
      const [error, text] of [[new ProviderError.Auth({ provider, message }), "backup"], [
        new ProviderError.InvalidRequest({ provider, message }),
        undefined
      ]] as const
    ) {
      const backup = scripted(["backup"], { name: "two" })
      await using agent = createAgent({ provider: [scripted([error]).provider, backup.provider] })
      const outcome = await agent.run("go").then(({ text: found }) => found, () => undefined)
      assert.strictEqual(outcome, text)
    }
  })

  it("follows any decision of the hook: another model, an unknown provider, a delay that is not a number", async () => {
    const cases: ReadonlyArray<readonly [RetryDecision, string]> = [
      [{ type: "fallback", model: "small" }, "fine"],
      [{ type: "fallback", provider: "nobody" }, "Auth"],
      [{ type: "retry", delayMs: Number.NaN }, "fine"],
      [{ type: "retry", delayMs: -5 }, "fine"],
      [{ type: "fail" }, "Auth"]
    ]
    for (const [decision, expected] of cases) {
      const model = scripted([
        new ProviderError.Auth({ provider, message }),
        (request) => request.model === "small" ? "fine" : "fine"
      ])
      await using agent = createAgent({
        provider: model.provider,
        hooks: [{ name: "h", onLlmError: () => HookAction.transform(decision) }]
      })
      const outcome = await agent.run("go").then(({ text }) => text, (error: { readonly _tag: string }) => error._tag)
      assert.strictEqual(outcome, expected)
    }
  })

  it("counts the tokens of the attempts that failed", async () => {
    const model = scripted([
      new ProviderError.Connection({ provider, message, partial: { usage: { inputTokens: 10, outputTokens: 3 } } }),
      { text: "fine", usage: { inputTokens: 10, outputTokens: 5 } }
    ])
    await using agent = createAgent({
      provider: model.provider,
      hooks: [{ name: "h", onLlmError: () => HookAction.transform(quick()) }]
    })
    assert.deepStrictEqual((await agent.run("go")).usage, { inputTokens: 20, outputTokens: 8 })
  })

  it("compacts once when the context overflows, and sends what the hooks make of the shorter request", async () => {
    const overflow = new ProviderError.ContextOverflow({ provider, message, limit: 100 })
    const history = Array.from(
      { length: 30 },
      (_, n) => ({ role: "user" as const, content: `secret ${n} ${"x".repeat(200)}` })
    )
    const mask = {
      name: "mask",
      preLlmCall: (
        request: Parameters<NonNullable<import("../../../src/hook/AgentHook.ts").AgentHook["preLlmCall"]>>[0]
      ) =>
        HookAction.transform({
          ...request,
          messages: request.messages.map((one) =>
            JSON.parse(JSON.stringify(one).replaceAll("secret", "*")) as typeof one
          )
        })
    }
    const model = scripted([overflow, "fine"])
    await using agent = createAgent({ provider: model.provider, hooks: [mask] })
    const session = await agent.session({ messages: history })
    assert.strictEqual((await session.run("go")).text, "fine")
    assert.lengthOf(model.requests, 2)
    assert.isBelow(model.requests[1]!.messages.length, model.requests[0]!.messages.length)
    assert.notInclude(line(model.requests[1]!.messages), "secret")

    const always = scripted([], { after: overflow })
    await using other = createAgent({ provider: always.provider })
    const second = await other.session({ messages: history })
    assert.strictEqual((await failureOf(second.run("go")))["_tag"], "ContextOverflow")
    assert.lengthOf(always.requests, 2)
    assertValid(second.messages)
  })

  it("leaves the conversation valid, and the session usable", async () => {
    const model = scripted([asks(["nothing"]), new ProviderError.Auth({ provider, message }), "fine"])
    await using agent = createAgent({ provider: model.provider })
    const session = await agent.session()
    await failureOf(session.run("go"))
    assertValid(session.messages)
    assert.strictEqual((await session.run("again")).text, "fine")
  })
})

describe("a stream that breaks", () => {
  const answer = "The answer is forty-two."

  it("starts again: the consumer has the final answer in the end, wherever the stream broke", async () => {
    for (let at = 0; at <= answer.length; at++) {
      for (const guarded of [false, true]) {
        const events: Array<AgentEvent> = []
        const broken = new ProviderError.Connection({ provider, message, partial: { text: `${answer.slice(0, at)}` } })
        const model = scripted([broken, broken, answer], { piece: 1 + at % 5 })
        await using agent = createAgent({
          provider: model.provider,
          hooks: [{
            name: "h",
            onLlmError: () => HookAction.transform(quick()),
            ...(guarded ? { onLlmDelta: () => undefined } : {})
          }]
        })
        agent.on((event) => void events.push(event))
        const result = await agent.run("go")
        assert.strictEqual(result.text, answer)
        assert.strictEqual(screen(events), answer)
        assert.lengthOf(events.filter(({ type }) => type === "retract"), at === 0 ? 0 : 2)
      }
    }
  })

  it("is taken back when the attempts are used up, so that a resume does not show two answers", async () => {
    const broken = new ProviderError.Connection({ provider, message, partial: { text: "The ans" } })
    const events: Array<AgentEvent> = []
    const model = scripted([broken, answer])
    await using agent = createAgent({ provider: model.provider, limits: { attempts: 1 } })
    agent.on((event) => void events.push(event))
    const first = await agent.run("go")
    assert.strictEqual(first.status, "limited")
    assert.strictEqual(screen(events), "")
    if (first.status === "limited") await agent.resume(first.snapshot)
    assert.strictEqual(screen(events), answer)
  })

  it("fails in mode beforeFirstToken after text was shown, and starts again if none was", async () => {
    const run = async (text: string, hold: "none" | "untilPass") => {
      const model = scripted([new ProviderError.Connection({ provider, message, partial: { text } }), answer])
      await using agent = createAgent({
        provider: model.provider,
        streamMode: "beforeFirstToken",
        hooks: [{ name: "h", onLlmDelta: () => undefined, hold }]
      })
      agent.on(() => {})
      return await agent.run("go").then(({ text: found }) => found, (error: { readonly _tag: string }) => error._tag)
    }
    assert.strictEqual(await run("The ans", "none"), "Connection")
    assert.strictEqual(await run("", "none"), answer)
    assert.strictEqual(await run("The ans", "untilPass"), answer)
  })

  it("runs no tool that a broken answer asked for", async () => {
    const model = scripted([
      new ProviderError.Malformed({ provider, message, partial: asks(["rm"]) }),
      "fine"
    ])
    await using agent = createAgent({
      provider: model.provider,
      hooks: [{ name: "h", onLlmError: () => HookAction.transform(quick()) }]
    })
    assert.strictEqual(line((await agent.run("go")).messages), "user: go | assistant: fine")
  })
})
