/** What a turn costs: every model call is counted once, at the price of its own provider. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { LlmResponse } from "../../../src/data/LlmCall.ts"
import * as ProviderError from "../../../src/data/ProviderError.ts"
import type { Usage } from "../../../src/data/Usage.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import type { LlmProvider } from "../../../src/port/LlmProvider.ts"
import { failureOf, recording } from "../../support/agent.ts"
import { asks, type Line, scripted } from "../../support/model.ts"

const usage: Usage = { inputTokens: 100, outputTokens: 10 }
const said = (text: string, more: Partial<LlmResponse> = {}): Partial<LlmResponse> => ({ text, usage, ...more })
const calls = (...names: ReadonlyArray<string>): Partial<LlmResponse> => ({
  ...asks(...names.map((name) => [name, { message: "go" }] as const)),
  usage
})

/** A provider that knows the price of its models: `price` dollars for 100 input tokens. */
const priced = (
  price: number | undefined,
  lines: ReadonlyArray<Line>,
  name = "one",
  model = `${name}-model`
): LlmProvider => ({
  ...scripted(lines, { name, model }).provider,
  costOf: ({ inputTokens }) => price === undefined ? undefined : (price * inputTokens) / 100
})

describe("the cost of a turn", () => {
  it("is the sum of its model calls, without rounding errors", async () => {
    const { tool } = recording("act")
    await using agent = createAgent({
      provider: priced(0.1, [calls("act"), calls("act"), said("done")]),
      tools: [tool]
    })
    const { cost, usage } = await agent.run("go")
    assert.deepStrictEqual(cost, {
      usd: 0.3,
      isComplete: true,
      byModel: { "one-model": { usd: 0.3, isComplete: true, calls: 3 } }
    })
    assert.strictEqual(usage.costUsd, 0.3)
  })

  it("is what the vendor reports, if it reports a cost", async () => {
    const lines = [said("done", { usage: { ...usage, costUsd: 0.25 } })]
    await using agent = createAgent({ provider: priced(0.1, lines) })
    assert.strictEqual((await agent.run("go")).cost.usd, 0.25)
  })

  it("is not complete if a call has no known price; the known part is still there", async () => {
    const broken = { ...scripted([said("done")], { name: "two", model: "m" }).provider }
    for (
      const second of [
        broken,
        priced(undefined, [said("done")], "two", "m"),
        priced(Number.NaN, [said("done")], "two", "m"),
        priced(-1, [said("done")], "two", "m"),
        priced(1, ["without usage"], "two", "m"),
        {
          ...broken,
          costOf: () => {
            throw new Error("no table")
          }
        }
      ]
    ) {
      const { tool } = recording("act")
      const error = new ProviderError.Auth({ provider: "one", message: "no" })
      await using agent = createAgent({ provider: [priced(0.1, [calls("act"), error]), second], tools: [tool] })
      assert.deepStrictEqual((await agent.run("go")).cost, {
        usd: 0.1,
        isComplete: false,
        byModel: {
          "one-model": { usd: 0.1, isComplete: true, calls: 1 },
          m: { usd: 0, isComplete: false, calls: 1 }
        }
      })
    }
  })

  it("is nothing, and complete, if a hook answers for the model", async () => {
    await using agent = createAgent({
      provider: scripted([]).provider,
      hooks: [{ name: "h", preTurn: () => HookAction.respond({ text: "no" }) as never }]
    })
    assert.deepStrictEqual((await agent.run("go")).cost, { usd: 0, isComplete: true, byModel: {} })
  })

  it("has each attempt at its own price: failed calls that report usage, retries and fallbacks", async () => {
    const cut = new ProviderError.Connection({ provider: "one", message: "cut", partial: { text: "a", usage } })
    await using agent = createAgent({
      provider: [priced(0.1, [cut, cut]), priced(1, [said("done")], "two")],
      hooks: [{
        name: "retry",
        onLlmError: ({ attempt }) => attempt === 1 ? HookAction.transform({ type: "retry", delayMs: 0 }) : undefined
      }]
    })
    const { cost, text, usage: total } = await agent.run("go")
    assert.strictEqual(text, "done")
    assert.deepStrictEqual(cost, {
      usd: 1.2,
      isComplete: true,
      byModel: {
        "one-model": { usd: 0.2, isComplete: true, calls: 2 },
        "two-model": { usd: 1, isComplete: true, calls: 1 }
      }
    })
    assert.deepStrictEqual(total, { inputTokens: 300, outputTokens: 30, costUsd: 1.2 })
  })

  it("has the calls that a wrapper makes, however often it makes them", async () => {
    await using agent = createAgent({
      provider: priced(0.1, [said("first"), said("second")]),
      hooks: [
        { name: "twice", wrapLlmCall: (request, next) => Effect.andThen(next(request), next(request)) },
        { name: "see", postLlmCall: ({ response }) => assert.strictEqual(response.usage?.costUsd, 0.1) }
      ]
    })
    const { cost, text } = await agent.run("go")
    assert.strictEqual(text, "second")
    assert.deepInclude(cost, { usd: 0.2, isComplete: true })
    await using cached = createAgent({
      provider: priced(0.1, []),
      hooks: [{
        name: "cache",
        wrapLlmCall: () => Effect.succeed({ model: "m", text: "cached", toolCalls: [], finishReason: "stop", usage })
      }]
    })
    assert.deepStrictEqual((await cached.run("go")).cost, { usd: 0, isComplete: true, byModel: {} })
  })

  it("has the calls of hooks", async () => {
    await using agent = createAgent({
      provider: priced(0.1, [said("verdict"), said("done")]),
      hooks: [{
        name: "judge",
        preTurn: async (_input, ctx) => void (await ctx.llm({ prompt: "?" }))
      }]
    })
    assert.strictEqual((await agent.run("go")).cost.usd, 0.2)
  })

  it("has the sub-agents at any depth, each at its own price", async () => {
    await using last = createAgent({ name: "last", provider: priced(1, [said("a"), said("b")], "last") })
    const tool = agentTool({ name: "last", description: "", agent: last })
    await using middle = createAgent({
      name: "middle",
      provider: priced(0.1, [calls("last", "last"), said("done")], "middle"),
      tools: [tool]
    })
    await using lead = createAgent({
      provider: priced(0.01, [calls("middle"), said("done")], "lead"),
      tools: [agentTool({ name: "middle", description: "", agent: middle })]
    })
    assert.deepStrictEqual((await lead.run("go")).cost, {
      usd: 2.22,
      isComplete: true,
      byModel: {
        "lead-model": { usd: 0.02, isComplete: true, calls: 2 },
        "middle-model": { usd: 0.2, isComplete: true, calls: 2 },
        "last-model": { usd: 2, isComplete: true, calls: 2 }
      }
    })
  })

  it("counts every call once when a sub-agent waits for a person and another process resumes it", async () => {
    const make = (leadLines: ReadonlyArray<Line>, subLines: ReadonlyArray<Line>) => {
      const sub = createAgent({
        name: "sub",
        provider: priced(1, subLines, "sub"),
        tools: [recording("act").tool],
        hooks: [{ name: "ask", preToolCall: () => HookAction.ask("?") }]
      })
      return createAgent({
        provider: priced(0.1, leadLines, "lead"),
        tools: [agentTool({ name: "sub", description: "", agent: sub })]
      })
    }
    const waiting = await make([calls("sub")], [calls("act")]).run("go")
    if (waiting.status !== "suspended") return assert.fail(waiting.status)
    assert.strictEqual(waiting.cost.usd, 1.1)
    assert.strictEqual(waiting.usage.inputTokens, 200)
    const snapshot = JSON.parse(JSON.stringify(waiting.snapshot)) as unknown
    const other = make([said("done")], [said("found")])
    const done = await other.resume(snapshot, { [waiting.pending[0]!.callId]: { type: "approve" } })
    assert.strictEqual(done.status, "completed")
    assert.deepStrictEqual(done.cost, {
      usd: 2.2,
      isComplete: true,
      byModel: {
        "lead-model": { usd: 0.2, isComplete: true, calls: 2 },
        "sub-model": { usd: 2, isComplete: true, calls: 2 }
      }
    })
  })

  it("is known to the hooks: the usage that they read has the cost", async () => {
    const seen: Array<number | undefined> = []
    const cut = new ProviderError.Auth({ provider: "one", message: "cut", partial: { text: "a", usage } })
    await using agent = createAgent({
      provider: [priced(0.1, [cut]), priced(1, [said("done")], "two")],
      hooks: [{
        name: "see",
        postLlmCall: ({ response }) => void seen.push(response.usage?.costUsd),
        onLlmError: ({ error }) => void seen.push(error.partial?.usage?.costUsd)
      }]
    })
    await agent.run("go")
    assert.deepStrictEqual(seen, [0.1, 1])
    assert.isUndefined(cut.partial?.usage?.costUsd)
  })
})

describe("the error of a turn", () => {
  it("has what was said and spent before: partial", async () => {
    const { tool } = recording("act", () => "found")
    const error = new ProviderError.Auth({ provider: "one", message: "no key" })
    const first = { ...calls("act"), text: "I look." }
    await using agent = createAgent({ provider: priced(0.1, [first, error]), tools: [tool] })
    const failed = await failureOf(agent.run("go"))
    assert.strictEqual(failed["_tag"], "Auth")
    assert.strictEqual(failed["message"], "no key")
    const { cost, messages, text, usage: total } = failed["partial"] as Required<
      NonNullable<ProviderError.ProviderError["partial"]>
    >
    assert.strictEqual(text, "I look.")
    assert.deepInclude(cost, { usd: 0.1, isComplete: true })
    assert.deepInclude(total, { inputTokens: 100 })
    assert.deepStrictEqual(messages.map(({ role }) => role), ["user", "assistant", "tool"])
    assert.deepStrictEqual(structuredClone(failed["partial"]), failed["partial"])
    assert.isUndefined(error.partial)
  })

  it("has the text of an answer that broke off, unless hooks check what is shown of it", async () => {
    const partial = { text: "The answer is", usage }
    for (const isChecked of [false, true]) {
      const cut = new ProviderError.Auth({ provider: "one", message: "cut", partial })
      await using agent = createAgent({
        provider: priced(0.1, [cut]),
        hooks: isChecked ? [{ name: "h", hold: "untilPass" }] : []
      })
      const failed = await failureOf(agent.run("go")) as { partial?: { text: string } }
      assert.strictEqual(failed.partial?.text, isChecked ? "" : "The answer is")
    }
  })

  it("has the text from before a message that reached the running turn", async () => {
    const error = new ProviderError.Auth({ provider: "one", message: "no key" })
    const agent = createAgent({
      provider: priced(0.1, [{ ...calls("act"), text: "I look." }, error]),
      tools: [
        recording("act", () => {
          void session.steer("hurry")
          return "found"
        }).tool
      ]
    })
    const session = await agent.session()
    const { partial } = await failureOf(session.run("go")) as {
      partial?: { text: string; messages: ReadonlyArray<object> }
    }
    assert.strictEqual(partial?.text, "I look.")
    assert.include(JSON.stringify(partial?.messages), "hurry")
    await agent.close()
  })

  it("has it for hooks that refuse, for limits of hooks and for answers that do not fit", async () => {
    const hooks = [
      { name: "h", postTurn: () => HookAction.reject("no") },
      { name: "h", postLlmCall: () => HookAction.reject("no") },
      {
        name: "h",
        kind: "policy",
        postTurn: () => {
          throw new Error("broken")
        }
      },
      { name: "h", preStop: () => undefined }
    ] as const
    for (const hook of hooks) {
      await using agent = createAgent({
        provider: priced(0.1, [said("secret")]),
        hooks: [hook as never],
        ...("preStop" in hook ? { output: { schema: { type: "object" } as never, retries: 0 } } : {})
      })
      const { partial } = await failureOf(agent.run("go")) as { partial?: { text: string; cost: { usd: number } } }
      assert.strictEqual(partial?.cost.usd, 0.1)
      assert.strictEqual(partial?.text, "preStop" in hook ? "secret" : "")
    }
  })

  it("has nothing of a message that a hook refused before the model was called", async () => {
    await using agent = createAgent({
      provider: priced(0.1, []),
      hooks: [{ name: "h", preTurn: () => HookAction.reject("no") }]
    })
    assert.deepStrictEqual((await failureOf(agent.run("go")))["partial"], {
      text: "",
      usage: { inputTokens: 0, outputTokens: 0 },
      cost: { usd: 0, isComplete: true, byModel: {} },
      messages: []
    })
  })

  it("is not shared by turns that fail with the same error", async () => {
    const error = new ProviderError.Auth({ provider: "one", message: "no", partial: { text: "", usage } })
    const agent = createAgent({ provider: priced(0.1, [error, error]) })
    for (let i = 0; i < 2; i++) {
      const { partial } = await failureOf(agent.run("go")) as { partial?: { cost: { usd: number } } }
      assert.strictEqual(partial?.cost.usd, 0.1)
    }
  })

  it("is the reason of the signal, with partial, when the run is cancelled", async () => {
    const controller = new AbortController()
    await using agent = createAgent({
      provider: priced(0.1, [{ ...calls("act"), text: "I look." }]),
      tools: [
        recording("act", () => {
          controller.abort()
          return new Promise(() => {})
        }).tool
      ]
    })
    const stream = agent.stream("go", { signal: controller.signal })
    const failed = await failureOf(stream.result)
    assert.strictEqual(failed, controller.signal.reason)
    const { cost, messages, text } = failed["partial"] as never as {
      cost: object
      messages: ReadonlyArray<object>
      text: string
    }
    assert.strictEqual(text, "I look.")
    assert.deepInclude(cost, { usd: 0.1, isComplete: true })
    assert.lengthOf(messages, 3)
  })

  it("says that the cost is not complete when a model call was cancelled, also one of a sub-agent", async () => {
    const controller = new AbortController()
    const hanging: Line = () => {
      controller.abort(new Error("enough"))
      return Effect.never as never
    }
    await using sub = createAgent({ name: "sub", provider: priced(1, [calls("none"), hanging], "sub") })
    await using lead = createAgent({
      provider: priced(0.1, [calls("sub")], "lead"),
      tools: [agentTool({ name: "sub", description: "", agent: sub })]
    })
    const failed = await failureOf(lead.run("go", { signal: controller.signal }))
    assert.strictEqual(failed["message"], "enough")
    assert.deepInclude((failed["partial"] as never as { cost: object }).cost, { usd: 1.1, isComplete: false })
    const second = createAgent({
      provider: priced(0.1, [calls("act")]),
      tools: [
        recording("act", () => {
          controller.abort()
          return new Promise(() => {})
        }).tool
      ]
    })
    const early = await failureOf(second.run("go", { signal: controller.signal }))
    assert.strictEqual(early, failed, "a signal that is already aborted begins no turn")
  })

  it("is an error of its own for every run that one signal cancels", async () => {
    const controller = new AbortController()
    let running = 0
    const run = (price: number) => {
      const agent = createAgent({
        provider: priced(price, [calls("act")]),
        tools: [
          recording("act", () => {
            if (++running === 2) controller.abort(new TypeError("enough"))
            return new Promise(() => {})
          }).tool
        ]
      })
      return failureOf(agent.run("go", { signal: controller.signal }))
    }
    const errors = await Promise.all([run(1), run(2)])
    assert.deepStrictEqual(errors.map(({ message }) => message), ["enough", "enough"])
    assert.deepStrictEqual(errors.map(({ name }) => name), ["TypeError", "TypeError"])
    const spent = errors.map(({ partial }) => (partial as never as { cost: { usd: number } }).cost.usd)
    assert.deepStrictEqual(spent.sort((a, b) => a - b), [1, 2])
  })
})
