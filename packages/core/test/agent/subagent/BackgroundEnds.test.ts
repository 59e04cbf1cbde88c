/** How agents in the background end when their turn ends early, and what they had spent until then. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { AgentConfig } from "../../../src/agent/AgentConfig.ts"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import * as ToolLoop from "../../../src/agent/ToolLoop.ts"
import type { AgentEvent } from "../../../src/data/AgentEvent.ts"
import { type LlmRequest, type LlmResponse, textResponse } from "../../../src/data/LlmCall.ts"
import { InvalidRequest } from "../../../src/data/ProviderError.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

const usage = { inputTokens: 100, outputTokens: 10, costUsd: 0.5 }

/** A model whose every call costs the same. */
const model = (say: (results: number, request: LlmRequest) => Partial<LlmResponse>) =>
  scripted([], {
    after: (request) => ({
      ...say(request.messages.filter(({ role }) => role === "tool").length, request),
      usage
    })
  }).provider

/** A lead whose second step is given, while its worker is inside of a tool that ends only when it is interrupted. */
const crew = (
  second: Partial<LlmResponse>,
  more: Partial<AgentConfig> = {},
  ofWorker: Partial<AgentConfig> = {}
) => {
  let begun = () => {}
  const working = new Promise<void>((resolve) => begun = resolve)
  let isStopped = false
  const dig = recording(
    "dig",
    () =>
      Effect.onInterrupt(
        Effect.andThen(Effect.sync(begun), Effect.never),
        () => Effect.sync(() => void (isStopped = true))
      )
  )
  const worker = createAgent({
    name: "worker",
    ...ofWorker,
    tools: [dig.tool],
    provider: model((results) => results === 0 ? asks(["dig"]) : textResponse("dug"))
  })
  const lead = createAgent({
    name: "lead",
    tools: [agentTool({ name: "work", description: "Works", agent: worker, background: true }), recording("bad").tool],
    hooks: [{
      name: "abort",
      tools: "bad",
      preToolCall: async () => {
        await working
        return HookAction.abort("not that")
      }
    }],
    provider: model((results) => results === 0 ? asks(["work", { message: "go" }]) : second),
    log: false,
    ...more
  })
  return { lead, working, isStopped: () => isStopped }
}

const awaits = asks(["await_agent", { id: "agent_1" }])

describe("a turn that ends before its agents in the background", () => {
  for (
    const [what, second] of [["with nothing else to do", textResponse("x")], ["that waits for it", awaits]] as const
  ) {
    it(`stops an agent when it is cancelled, ${what}, and says what both have spent`, async () => {
      const { isStopped, lead, working } = crew(second)
      const stop = new AbortController()
      const run = lead.run("hello", { signal: stop.signal }).then(() => undefined, (error: unknown) => error)
      await working
      // The lead agent has made its second call when it waits for the answer.
      await new Promise((resolve) => setImmediate(resolve))
      stop.abort(new Error("enough"))
      const { partial } = await run as { readonly partial: { readonly usage: unknown; readonly cost: unknown } }
      assert.isTrue(isStopped())
      assert.deepInclude(partial.usage, { inputTokens: 300, outputTokens: 30 })
      assert.deepInclude(partial.cost, { usd: 1.5 })
      await lead.close()
    })
  }

  for (
    const [what, calls] of [["alone", [["bad"]]], ["beside a call that waits for the agent", [["bad"], ["await_agent", {
      id: "agent_1"
    }]]]] as const
  ) {
    it(`stops an agent when a hook aborts a call ${what}, and says what both have spent`, async () => {
      const events: Array<AgentEvent> = []
      const { isStopped, lead } = crew(asks(...calls), {
        plugins: [{ name: "watch", onEvent: (event) => events.push(event) }]
      })
      const result = await lead.run("hello")
      assert.strictEqual(result.status, "aborted")
      assert.isTrue(isStopped())
      assert.strictEqual(result.usage.inputTokens, 300)
      assert.strictEqual(result.cost.usd, 1.5)
      const end = events.findLast((event) => event.type === "turn-end")
      assert.strictEqual(end?.usage.inputTokens, 300)
      await lead.close()
    })
  }

  it("says in an error what they had spent", async () => {
    const events: Array<AgentEvent> = []
    const { lead, working } = crew({}, {
      plugins: [{ name: "watch", onEvent: (event) => events.push(event) }],
      hooks: [{
        name: "fails",
        preLlmCall: async ({ messages }, ctx) => {
          if (ctx.agent.name !== "lead" || messages.length === 1) return undefined
          await working
          return HookAction.reject("no more")
        }
      }]
    })
    const { partial } = await lead.run("hello").then(() => undefined, (error: unknown) => error) as {
      readonly partial: { readonly usage: { readonly inputTokens: number } }
    }
    // One call of each agent.
    assert.strictEqual(partial.usage.inputTokens, 200)
    assert.strictEqual(events.findLast((event) => event.type === "turn-end")?.usage.inputTokens, 200)
    await lead.close()
  })

  it("counts in a suspended run what a finished agent has spent whose answer nobody has read", async () => {
    const worker = createAgent({ name: "worker", provider: model(() => textResponse("done")) })
    const lead = createAgent({
      tools: [
        agentTool({ name: "work", description: "Works", agent: worker, background: true }),
        recording("pay").tool
      ],
      hooks: [{ name: "ask", tools: "pay", preToolCall: () => HookAction.ask("really?") }],
      provider: model((results) =>
        results === 0 ? asks(["work", { message: "go" }]) : results === 1 ? asks(["pay", {}, "p"]) : textResponse("ok")
      )
    })
    const first = await lead.run("hello")
    assert.strictEqual(first.status, "suspended")
    if (first.status !== "suspended") return
    assert.strictEqual(first.usage.inputTokens, 300)
    const second = await lead.resume(structuredClone(first.snapshot), { p: { type: "approve" } })
    // One more call of the lead agent, which reads both results.
    assert.strictEqual(second.usage.inputTokens, 400)
    await lead.close()
  })
})

describe("an agent in the background that the lead agent cancels", () => {
  it("is shut down, and what it had spent counts", async () => {
    const ended: Array<string> = []
    let shutDowns = 0
    const core = { ...ToolLoop.make(), shutdown: () => Effect.sync(() => void shutDowns++) }
    const { lead } = crew(asks(["cancel_agent", { id: "agent_1" }]), {
      plugins: [{ name: "watch", onEvent: (event) => void (event.type === "turn-end" && ended.push(event.status)) }],
      limits: { steps: 3 }
    }, { core })
    const { usage } = await lead.run("hello")
    // Two calls of the lead agent and one of the worker are as many as the limit allows.
    assert.strictEqual(usage.inputTokens, 300)
    assert.deepStrictEqual(ended, ["cancelled", "limited"])
    assert.strictEqual(shutDowns, 1)
    await lead.close()
  })
})

describe("a message to an agent in the background that is about to fail", () => {
  it("is not delivered, and the lead agent reads why", async () => {
    let open = () => {}
    const passed = new Promise<void>((resolve) => open = resolve)
    const worker = createAgent({
      provider: scripted([], {
        after: () =>
          Effect.as(Effect.promise(() => passed), new InvalidRequest({ provider: "one", message: "no such model" }))
      }).provider
    })
    const lead = createAgent({
      tools: [agentTool({ name: "work", description: "Works", agent: worker, background: true })],
      hooks: [{
        name: "open",
        preToolCall: ({ name }) => void (name === "message_agent" && setImmediate(() => setImmediate(open)))
      }],
      provider: scripted([
        asks(["work", { message: "go" }]),
        asks(["message_agent", { id: "agent_1", message: "hurry" }])
      ]).provider
    })
    const { messages } = await lead.run("hello")
    assert.include(JSON.stringify(messages), "agent_1 has finished: read its answer with await_agent")
    await lead.close()
  })
})
