/** What an agent in the background has done stays done when its turn stops and continues elsewhere. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { AgentConfig } from "../../../src/agent/AgentConfig.ts"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { textResponse } from "../../../src/data/LlmCall.ts"
import { text } from "../../../src/data/Message.ts"
import { InvalidRequest } from "../../../src/data/ProviderError.ts"
import * as RunState from "../../../src/data/RunState.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import type { SessionStore } from "../../../src/port/SessionStore.ts"
import { recording } from "../../support/agent.ts"
import { asks, type Line, scripted } from "../../support/model.ts"

/** A lead that starts a worker and then pays, which waits for a person, or is one call more than `toolCalls`. */
const crew = (worker: Line, more: Partial<AgentConfig> = {}, toolCalls?: number) => {
  const model = scripted([], { after: worker })
  const lead = createAgent({
    name: "lead",
    tools: [
      recording("pay", () => "paid").tool,
      agentTool({
        name: "work",
        description: "Works",
        background: true,
        agent: createAgent({ name: "worker", provider: model.provider, tools: [recording("dig").tool], ...more })
      })
    ],
    ...(toolCalls === undefined
      ? { hooks: [{ name: "ask", tools: "pay", preToolCall: () => HookAction.ask("pay?") }] }
      : { limits: { toolCalls } }),
    log: false,
    provider: scripted([], {
      after: ({ messages }) => {
        const results = messages.filter(({ role }) => role === "tool")
        if (results.length === 0) return asks(["work", { message: "go" }, "w"])
        return results.length === 1 ? asks(["pay", {}, "p"]) : textResponse(`read: ${text(results.at(-1)!)}`)
      }
    }).provider
  })
  const resumed = async () => {
    const first = await lead.run("hello")
    assert.strictEqual(first.status, toolCalls === undefined ? "suspended" : "limited")
    if (!("snapshot" in first)) throw new Error("it did not stop")
    const before = model.requests.length
    let result = await lead.resume(
      JSON.stringify(first.snapshot),
      toolCalls === undefined ? { p: { type: "approve" } } : {}
    )
    // The call that reads the answer may be one more again.
    if (result.status === "limited") result = await lead.resume(JSON.stringify(result.snapshot))
    await lead.close()
    return { result, again: model.requests.length - before }
  }
  return { lead, resumed }
}

for (const how of ["suspended", "limited"] as const) {
  describe(`an agent in the background that had ended before its turn was ${how}`, () => {
    const toolCalls = (used: number) => how === "limited" ? used : undefined

    it("is not run again: the lead agent reads its answer, and its postTurn hooks have run once", async () => {
      let ends = 0
      const count = { name: "count", postTurn: () => void ends++ }
      const { again, result } = await crew("found", { hooks: [count] }, toolCalls(1)).resumed()
      assert.strictEqual(result.text, "read: found")
      assert.strictEqual(again, 0)
      assert.strictEqual(ends, 1)
    })

    it("is not run again after it failed: the lead agent reads why", async () => {
      const broken = new InvalidRequest({ provider: "one", message: "no such model" })
      const { again, result } = await crew(broken, {}, toolCalls(1)).resumed()
      assert.match(result.text, /^read: .*no such model/)
      assert.strictEqual(again, 0)
    })

    it("is not given its limit a second time", async () => {
      const { again, result } = await crew(() => asks(["dig"]), { limits: { steps: 2 } }, toolCalls(3)).resumed()
      assert.strictEqual(result.text, "read: work was limited: steps 2 of 2")
      assert.strictEqual(again, 0)
    })
  })
}

describe("a sub-agent whose turn had ended without an answer", () => {
  it("is not run again when its process ended before its caller read that", async () => {
    const states: Array<RunState.RunState> = []
    const store: SessionStore = {
      commit: ({ snapshot }) => Effect.sync(() => void states.push(structuredClone(snapshot()))),
      load: () => Effect.succeed(undefined)
    }
    const make = () => {
      const worker = scripted([], { after: () => asks(["dig"]) })
      const dig = recording("dig")
      const lead = createAgent({
        store,
        provider: scripted([], {
          after: ({ messages }) =>
            messages.length === 1 ? asks(["work", { message: "go" }]) : textResponse(`read: ${text(messages.at(-1)!)}`)
        }).provider,
        tools: [agentTool({
          name: "work",
          description: "Works",
          agent: createAgent({
            provider: worker.provider,
            tools: [dig.tool],
            hooks: [{ name: "guard", tools: "dig", preToolCall: () => HookAction.abort("not here") }]
          })
        })]
      })
      return { lead, worker, dig }
    }
    const first = make()
    assert.strictEqual((await first.lead.run("hello")).status, "aborted")
    const between = states.find(({ calls: [call] }) => call !== undefined && RunState.childOf(call)?.phase === "ended")
    assert.isDefined(between)
    const second = make()
    const result = await second.lead.resume(between)
    assert.match(result.text, /^read: .*had ended without an answer/)
    assert.lengthOf(second.worker.requests, 0)
    await first.lead.close()
    await second.lead.close()
  })
})

describe("two agents in the background that ask people", () => {
  it("put their questions together, and beside that of their lead agent", async () => {
    const worker = () =>
      createAgent({
        tools: [recording("dig", () => "dug").tool],
        provider: scripted([], {
          after: ({ messages }) => messages.at(-1)?.role === "tool" ? textResponse("dug it") : asks(["dig", {}, "d"])
        }).provider
      })
    const lead = createAgent({
      tools: [
        recording("pay").tool,
        agentTool({ name: "left", description: "Left", agent: worker(), background: true }),
        agentTool({ name: "right", description: "Right", agent: worker(), background: true })
      ],
      hooks: [{ name: "ask", tools: ["pay", "dig"], preToolCall: () => HookAction.ask("sure?") }],
      provider: scripted([
        asks(["left", { message: "go" }], ["right", { message: "go" }], ["pay", {}, "p"]),
        "done"
      ]).provider
    })
    const first = await lead.run("hello")
    assert.strictEqual(first.status, "suspended")
    if (first.status !== "suspended") return
    assert.deepStrictEqual(first.pending.map(({ tool }) => tool), ["pay", "dig", "dig"])
    const decisions = Object.fromEntries(first.pending.map(({ callId }) => [callId, { type: "approve" } as const]))
    assert.strictEqual((await lead.resume(JSON.stringify(first.snapshot), decisions)).text, "done")
    await lead.close()
  })

  it("read no messages while they wait", async () => {
    const lead = createAgent({
      tools: [agentTool({
        name: "work",
        description: "Works",
        agent: createAgent({ provider: scripted([asks(["dig", {}, "d"])]).provider, tools: [recording("dig").tool] }),
        background: true
      })],
      hooks: [{ name: "ask", tools: "dig", preToolCall: () => HookAction.ask("sure?") }],
      provider: scripted([
        asks(["work", { message: "go" }]),
        asks(["message_agent", { id: "agent_1", message: "hurry" }])
      ]).provider
    })
    const { messages } = await lead.run("hello")
    assert.include(JSON.stringify(messages), "agent_1 waits for a person and reads no messages until then")
    await lead.close()
  })
})

describe("an agent in the background whose answer a hook refuses to read", () => {
  for (const second of ["pay", "over"] as const) {
    it(`does not hold the turn that ${second === "pay" ? "waits for a person" : "another agent has taken over"}`, async () => {
      const lead = createAgent({
        tools: [
          recording("pay").tool,
          agentTool({
            name: "work",
            description: "Works",
            agent: createAgent({ provider: scripted(["found"]).provider }),
            background: true
          }),
          agentTool({
            name: "over",
            description: "Takes over",
            agent: createAgent({ provider: scripted(["here"]).provider }),
            type: "transfer"
          })
        ],
        hooks: [
          { name: "ask", tools: "pay", preToolCall: () => HookAction.ask("sure?") },
          { name: "shut", tools: "await_agent", preToolCall: () => HookAction.reject("not now") }
        ],
        provider: scripted([asks(["work", { message: "go" }], [second, { message: "you" }])]).provider
      })
      const { messages, status } = await lead.run("hello")
      assert.strictEqual(status, second === "pay" ? "suspended" : "completed")
      if (second === "over") assert.include(JSON.stringify(messages), "not now")
      await lead.close()
    })
  }
})

describe("an Abort in the background", () => {
  for (const [what, isAsync] of [["at once", false], ["later", true]] as const) {
    it(`ends the turn when it happens ${what}: a question beside it is not put`, async () => {
      const { lead } = crew(() => asks(["dig"]), {
        hooks: [{
          name: "guard",
          tools: "dig",
          preToolCall: () => {
            const abort = HookAction.abort("not here")
            return isAsync ? new Promise((resolve) => setImmediate(() => resolve(abort))) : abort
          }
        }]
      })
      const result = await lead.run("hello")
      assert.strictEqual(result.status, "aborted")
      assert.strictEqual(result.text, "not here")
      await lead.close()
    })
  }

  it("interrupts what the lead agent does meanwhile", async () => {
    let isStopped = false
    const long = recording(
      "long",
      (_, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(isStopped = true)))
    )
    const worker = createAgent({
      provider: scripted([asks(["dig"])]).provider,
      tools: [recording("dig").tool],
      hooks: [{
        name: "guard",
        preToolCall: async () => {
          while (long.ran.length === 0) await new Promise((resolve) => setImmediate(resolve))
          return HookAction.abort("not here")
        }
      }]
    })
    const lead = createAgent({
      provider: scripted([asks(["work", { message: "go" }]), asks(["long"])]).provider,
      tools: [long.tool, agentTool({ name: "work", description: "Works", agent: worker, background: true })]
    })
    const result = await lead.run("hello")
    assert.strictEqual(result.status, "aborted")
    assert.isTrue(isStopped)
    await lead.close()
  })
})
