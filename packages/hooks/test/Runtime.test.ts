/** The hooks in an agent that runs, with a scripted model. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import { defineHook } from "@belay/core/AgentHook"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import * as ProviderError from "@belay/core/ProviderError"
import * as Approval from "@belay/hooks/Approval"
import * as AuditLog from "@belay/hooks/AuditLog"
import * as CostTracker from "@belay/hooks/CostTracker"
import * as InputGuardrail from "@belay/hooks/InputGuardrail"
import * as OutputGuardrail from "@belay/hooks/OutputGuardrail"
import * as ProviderFallback from "@belay/hooks/ProviderFallback"
import * as ToolArguments from "@belay/hooks/ToolArguments"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

type Line = Partial<LlmResponse> | ProviderError.ProviderError

/** Answers line by line, and streams every text in pieces of three characters. */
const scripted = (lines: ReadonlyArray<Line>, name = "one") => {
  const requests: Array<LlmRequest> = []
  const next = (request: LlmRequest): Effect.Effect<LlmResponse, ProviderError.ProviderError> => {
    const line = lines[requests.push(request) - 1] ?? { text: "the end" }
    return ProviderError.isProviderError(line)
      ? Effect.fail(line)
      : Effect.succeed({
        model: "model-1",
        text: "",
        toolCalls: [],
        finishReason: line.toolCalls === undefined ? "stop" : "tool-calls",
        ...line
      })
  }
  const provider: LlmProvider = {
    name,
    complete: (request) => Effect.suspend(() => next(request)),
    stream: (request, sink) =>
      Effect.gen(function*() {
        const response = yield* next(request)
        for (const text of response.text.match(/.{1,3}/gs) ?? []) {
          const taken = sink({ type: "text", text })
          if (taken !== undefined) yield* Effect.promise(async () => taken)
        }
        return response
      })
  }
  return { provider, requests }
}

const ran: Array<unknown> = []

const deploy = defineTool({
  name: "deploy",
  description: "Deploys",
  input: Schema.Struct({ to: Schema.String }),
  execute: (args) => {
    ran.push(args)
    return "deployed"
  }
})

const asks = (...targets: ReadonlyArray<string>): Line => ({
  toolCalls: targets.map((to, index) => ({ id: `call-${index}`, name: "deploy", args: { to } }))
})

const key = "sk-abcdefghijklmnop"

/** What a reader of the stream has on the screen now, and what was ever on it. */
const shownOf = async (events: AsyncIterable<AgentEvent>, shown = { now: "", ever: "" }): Promise<typeof shown> => {
  for await (const event of events) {
    if (event.type === "retract") shown.now = ""
    if (event.type !== "text-delta") continue
    shown.now += event.text
    shown.ever += event.text
  }
  return shown
}

const rejection = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(() => assert.fail("expected a rejection"), (error) => error)

describe("an agent with guardrails", () => {
  it("does not ask the model about a blocked message", async () => {
    const { provider, requests } = scripted([])
    await using agent = createAgent({
      provider,
      hooks: [InputGuardrail.make({ patterns: ["forbidden"], userMessage: "Sorry." })]
    })
    const error = await rejection(agent.run("a forbidden word"))
    assert.deepInclude(error, {
      _tag: "HookRejected",
      hook: "input-guardrail",
      reason: "Message blocked by content policy",
      userMessage: "Sorry."
    })
    assert.lengthOf(requests, 0)
  })

  it("runs no tool of a blocked response", async () => {
    ran.length = 0
    const { provider } = scripted([{ text: key, ...asks("production") }])
    await using agent = createAgent({
      provider,
      tools: [deploy],
      hooks: [OutputGuardrail.make({ patterns: ["sk-[a-z]+"] })]
    })
    assert.deepInclude(await rejection(agent.run("go")), { _tag: "HookRejected", point: "postLlmCall" })
    assert.deepEqual(ran, [])
  })

  it("never shows a rejected answer, but shows the next one of the model", async () => {
    const { provider, requests } = scripted([{ text: `the key is ${key}.` }, { text: "I may not say." }])
    const guardrail = OutputGuardrail.make({ patterns: ["sk-[a-z]+"], feedback: "Leave out keys." })
    await using agent = createAgent({ provider, hooks: [guardrail] })
    const stream = agent.stream("the key?")
    assert.deepEqual(await shownOf(stream), { now: "I may not say.", ever: "I may not say." })
    assert.strictEqual((await stream.result).text, "I may not say.")
    assert.include(JSON.stringify(requests[1]?.messages), "Leave out keys.")
  })

  for (const hold of ["untilPass", { chars: 24 }] as const) {
    it(`never shows or keeps a redacted secret with the buffer ${JSON.stringify(hold)}`, async () => {
      const { provider } = scripted([{ text: `well, the key is ${key}, and that is all there is to say about it` }])
      const expected = "well, the key is [key], and that is all there is to say about it"
      await using agent = createAgent({
        provider,
        hooks: [OutputGuardrail.make({ patterns: ["sk-[a-z]+"], redact: "[key]", hold })]
      })
      const stream = agent.stream("the key?")
      assert.deepEqual(await shownOf(stream), { now: expected, ever: expected })
      const { messages, text } = await stream.result
      assert.strictEqual(text, expected)
      assert.notInclude(JSON.stringify(messages), key)
    })
  }

  it("cuts a stream at a secret without showing it", async () => {
    const { provider } = scripted([{ text: `well, the key is ${key}, and that is all` }])
    await using agent = createAgent({
      provider,
      hooks: [OutputGuardrail.make({ patterns: ["sk-[a-z]+"], hold: { chars: 24 } })]
    })
    const stream = agent.stream("the key?")
    const shown = { now: "", ever: "" }
    assert.deepInclude(await rejection(shownOf(stream, shown)), { _tag: "HookRejected", point: "onLlmDelta" })
    assert.isTrue("well, the key is ".startsWith(shown.ever))
  })
})

describe("an agent that tracks its costs", () => {
  const price = { costPerInputToken: 0.01, costPerOutputToken: 0.02 }

  it("has the exact costs at the end of the turn", async () => {
    const seen: Array<number> = []
    const reader = defineHook({
      name: "reader",
      postTurn: (_end, ctx) => void seen.push(ctx.state.get(CostTracker.totalCost))
    })
    const usages = [{ inputTokens: 100, outputTokens: 50 }, { inputTokens: 200, outputTokens: 10 }]
    const { provider } = scripted(usages.map((usage) => ({ text: "hi", usage })))
    await using agent = createAgent({ provider, hooks: [CostTracker.make(price), reader] })
    const session = await agent.session()
    await session.run("one")
    await session.run("two")
    assert.deepEqual(seen, [2.0, 4.2])
    assert.deepEqual(CostTracker.total(session.state), { usd: 4.2, text: "$4.20", unknownCalls: 0 })
  })

  it("stops a loop at the limit", async () => {
    const usage = { inputTokens: 100, outputTokens: 0 }
    const { provider, requests } = scripted(Array.from({ length: 9 }, () => ({ ...asks("staging"), usage })))
    await using agent = createAgent({
      provider,
      tools: [deploy],
      hooks: [CostTracker.make({ ...price, limit: 3, onLimit: "abort" })]
    })
    const result = await agent.run("go")
    assert.deepInclude(result, {
      status: "aborted",
      reason: "cost limit of $3.00 reached: $3.00 spent",
      by: "cost-tracker"
    })
    assert.lengthOf(requests, 3)
  })
})

describe("an agent that asks before it acts", () => {
  it("runs approved and edited calls, but not denied ones", async () => {
    ran.length = 0
    const { provider } = scripted([asks("staging", "production", "nowhere")])
    const ask = async ({ args }: Approval.Request): Promise<Approval.Answer> => {
      const { to } = args as { readonly to: string }
      return to === "staging"
        ? { type: "approve" }
        : to === "production"
        ? { type: "deny", reason: "no" }
        : { type: "edit", args: { to: "home" } }
    }
    const entries: Array<AuditLog.Entry> = []
    const hooks = [
      Approval.make({ tools: "deploy", ask }),
      AuditLog.make({ sink: (entry) => void entries.push(entry) })
    ]
    await using agent = createAgent({ provider, tools: [deploy], hooks })
    const { messages } = await agent.run("go")
    assert.sameDeepMembers(ran, [{ to: "staging" }, { to: "home" }])
    const results = messages.filter(({ role }) => role === "tool").map(({ content }) => content)
    assert.deepEqual(results, ["deployed", "no", "deployed"])
    assert.deepInclude(entries.find(({ event }) => event === "tool_denied"), { by: "human-approval", reason: "no" })
  })

  it("is suspended when nobody can be asked, and continues after a decision", async () => {
    ran.length = 0
    const { provider } = scripted([asks("staging", "production")])
    await using agent = createAgent({ provider, tools: [deploy], hooks: [Approval.make({ tools: "deploy" })] })
    const result = await agent.run("go")
    if (result.status !== "suspended") return assert.fail(result.status)
    assert.deepEqual(ran, [])
    assert.deepEqual(result.pending.map(({ args, by }) => [args, by]), [[{ to: "staging" }, "human-approval"], [
      { to: "production" },
      "human-approval"
    ]])
    const decisions = { "call-0": { type: "approve" }, "call-1": { type: "deny", reason: "no" } } as const
    assert.strictEqual((await agent.resume(JSON.stringify(result.snapshot), decisions)).status, "completed")
    assert.deepEqual(ran, [{ to: "staging" }])
  })

  it("runs nothing if it is cancelled during a question, and aborts the question", async () => {
    ran.length = 0
    const controller = new AbortController()
    const { provider, requests } = scripted([asks("staging", "production")])
    let asked: Approval.Request | undefined
    const ask = (request: Approval.Request) =>
      new Promise<Approval.Answer>((resolve) => {
        asked = request
        request.signal.addEventListener("abort", () => resolve({ type: "approve" }))
        setImmediate(() => controller.abort(new Error("never mind")))
      })
    await using agent = createAgent({ provider, tools: [deploy], hooks: [Approval.make({ tools: "deploy", ask })] })
    assert.deepInclude(await rejection(agent.run("go", { signal: controller.signal })), { message: "never mind" })
    assert.isTrue(asked?.signal.aborted)
    assert.deepEqual(ran, [])
    assert.lengthOf(requests, 1)
  })

  it("asks once, about the arguments that later hooks have changed", async () => {
    ran.length = 0
    const seen: Array<unknown> = []
    const { provider } = scripted([asks("staging")])
    const ask = ({ args }: Approval.Request): Approval.Answer => {
      seen.push(args)
      return { type: "approve" }
    }
    const hooks = [
      Approval.make({ tools: "*", ask }),
      ToolArguments.make({ tools: "deploy", rewrite: () => ({ to: "production" }) })
    ]
    await using agent = createAgent({ provider, tools: [deploy], hooks })
    await agent.run("go")
    assert.deepEqual([seen, ran], [[{ to: "production" }], [{ to: "production" }]])
  })
})

describe("an agent with a fallback", () => {
  const overloaded = new ProviderError.Overloaded({ provider: "one", message: "out of capacity" })

  it("tries the next target, each once", async () => {
    const one = scripted([overloaded, overloaded], "one")
    const two = scripted([overloaded], "two")
    const hooks = [
      ProviderFallback.make({ to: [{ model: "small-1" }, "two"] }),
      defineHook({
        name: "last",
        onLlmError: ({ attempt }) => attempt === 3 ? HookAction.reject("all failed") : undefined
      })
    ]
    await using agent = createAgent({ provider: [one.provider, two.provider], model: "large-1", hooks })
    assert.deepInclude(await rejection(agent.run("hi")), { reason: "all failed" })
    assert.deepEqual([one.requests, two.requests].map((all) => all.map(({ model }) => model)), [
      ["large-1", "small-1"],
      [undefined]
    ])
  })

  it("answers with the backup", async () => {
    const one = scripted([overloaded], "one")
    const two = scripted([{ text: "from two" }], "two")
    await using agent = createAgent({ provider: [one.provider, two.provider], hooks: [ProviderFallback.make()] })
    assert.strictEqual((await agent.run("hi")).text, "from two")
  })
})
