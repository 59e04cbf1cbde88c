/** Agents in the background: they work while the lead agent goes on, under its hooks, limits and state. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { AgentConfig } from "../../../src/agent/AgentConfig.ts"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { type LlmRequest, type LlmResponse, textResponse } from "../../../src/data/LlmCall.ts"
import { text } from "../../../src/data/Message.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import * as SessionStore from "../../../src/port/SessionStore.ts"
import { assertValid, recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

const model = (say: (request: LlmRequest) => Partial<LlmResponse>) => scripted([], { after: say }).provider

const resultsIn = ({ messages }: LlmRequest) =>
  messages.flatMap((message) => message.role === "tool" ? [text(message)] : [])

/** A gate that work waits at. */
const gate = () => {
  let open = () => {}
  const passed = new Promise<void>((resolve) => open = resolve)
  return { open, passed }
}

/** A worker with a tool that waits at the gate, and a lead that does what the list says, one step after the other. */
const crew = (
  steps: ReadonlyArray<Partial<LlmResponse> | ((request: LlmRequest) => Partial<LlmResponse>)>,
  more: Partial<AgentConfig> = {},
  at = gate()
) => {
  const seen: Array<LlmRequest> = []
  const dig = recording("dig", async () => {
    await at.passed
    return "dug"
  })
  const worker = createAgent({
    name: "worker",
    tools: [dig.tool],
    provider: model(({ messages }) =>
      messages.at(-1)?.role === "tool"
        ? textResponse(`worker: ${messages.map((message) => text(message)).join(",")}`)
        : asks(["dig", {}, `d${messages.length}`])
    )
  })
  const lead = createAgent({
    name: "lead",
    tools: [agentTool({ name: "work", description: "Works", agent: worker, background: true })],
    provider: model((request) => {
      seen.push(request)
      const step = steps[resultsIn(request).length] ?? textResponse(`lead: ${resultsIn(request).at(-1)}`)
      return typeof step === "function" ? step(request) : step
    }),
    log: false,
    ...more
  })
  return { lead, dig, seen, at }
}

const start = asks(["work", { message: "go" }, "w1"])

describe("an agent in the background", () => {
  it("works while its lead agent goes on, which reads the answer before the turn ends", async () => {
    const at = gate()
    const { dig, lead, seen } = crew(
      [
        start,
        (request) => {
          // The worker has not finished, because the gate is closed.
          assert.match(resultsIn(request)[0]!, /^It works in the background as agent_1\./)
          at.open()
          return textResponse("meanwhile")
        }
      ],
      {},
      at
    )
    const session = await lead.session()
    const { text: said } = await session.run("hello")
    assert.strictEqual(said, "lead: worker: go,,dug")
    assert.lengthOf(dig.ran, 1)
    const [, ...others] = seen[0]!.tools
    assert.deepStrictEqual(others.map(({ inputSchema, name }) => [name, Object(inputSchema).required]), [
      ["await_agent", ["id"]],
      ["message_agent", ["id", "message"]],
      ["cancel_agent", ["id"]]
    ])
    assertValid(session.messages)
    await lead.close()
  })

  it("can be awaited, and two work at the same time", async () => {
    const at = gate()
    const { dig, lead } = crew(
      [
        asks(["work", { message: "a" }, "w1"], ["work", { message: "b" }, "w2"]),
        {},
        () => {
          at.open()
          return asks(["await_agent", { id: "agent_2" }, "x"])
        }
      ],
      {},
      at
    )
    assert.match((await lead.run("hello")).text, /^lead: worker: a/)
    assert.lengthOf(dig.ran, 2)
    await lead.close()
  })

  it("is not stored any more once its answer was read", async () => {
    const { at, lead } = crew([start, asks(["await_agent", { id: "agent_1" }, "x"]), asks(["pay", {}, "p"])], {
      tools: [
        recording("pay").tool,
        agentTool({ name: "work", description: "Works", agent: crew([]).lead, background: true })
      ],
      hooks: [{ name: "ask", tools: "pay", preToolCall: () => HookAction.ask("pay?") }]
    })
    at.open()
    const result = await lead.run("hello")
    if (result.status !== "suspended") return assert.fail(result.status)
    assert.deepStrictEqual(Object.values(Object(result.snapshot.durable).turn), [[]])
    await lead.close()
  })

  it("reads messages of the lead agent, and can be cancelled", async () => {
    const at = gate()
    const { lead, seen } = crew(
      [
        start,
        asks(["cancel_agent", { id: "agent_1" }, "c"]),
        asks(["await_agent", { id: "agent_1" }, "x"]),
        asks(["work", { message: "again" }, "w2"]),
        asks(["message_agent", { id: "agent_2", message: "hurry" }, "m"])
      ],
      { hooks: [{ name: "open", preToolCall: ({ name }) => void (name === "message_agent" && at.open()) }] },
      at
    )
    const { text: said } = await lead.run("hello")
    const results = resultsIn(seen.at(-1)!)
    assert.strictEqual(results[1], "agent_1 was cancelled")
    assert.match(results[2]!, /no agent works in the background as "agent_1": there is none/)
    assert.strictEqual(results[4], "delivered")
    assert.strictEqual(said, "lead: worker: again,,dug,hurry,,dug")
    await lead.close()
  })

  it("passes the hooks and limits of the tree, and what it spends is part of the turn", async () => {
    const points: Array<string> = []
    const { at, lead } = crew([start], {
      hooks: [{
        name: "watch",
        preDelegation: ({ agent }) => void points.push(`pre ${agent}`),
        postDelegation: ({ result }) => void points.push(`post ${result.text}`),
        preToolCall: ({ name }, ctx) => void points.push(`${ctx.agent.name} ${name}`)
      }]
    })
    at.open()
    const { usage } = await lead.run("hello")
    assert.deepStrictEqual(points, [
      "lead work",
      "pre work",
      "worker dig",
      "lead await_agent",
      "post worker: go,,dug"
    ])
    const alone = crew([])
    // Five model calls: three of the lead agent, two of the worker.
    assert.strictEqual(usage.inputTokens, 5 * (await alone.lead.run("hello")).usage.inputTokens)
    await alone.lead.close()
    await lead.close()
    const limited = crew([start], { limits: { steps: 3 } })
    limited.at.open()
    assert.strictEqual((await limited.lead.run("hello")).status, "limited")
    await limited.lead.close()
  })

  it("asks people through its lead agent when that has nothing else to do", async () => {
    const { at, dig, lead } = crew([start, textResponse("meanwhile")], {
      hooks: [{ name: "ask", preToolCall: ({ name }) => name === "dig" ? HookAction.ask("dig?") : undefined }]
    })
    at.open()
    const first = await lead.run("hello")
    assert.strictEqual(first.status, "suspended")
    if (first.status !== "suspended") return
    assert.lengthOf(dig.ran, 0)
    const callId = first.pending[0]!.callId
    const second = await lead.resume(structuredClone(first.snapshot), { [callId]: { type: "approve" } })
    assert.strictEqual(second.text, "lead: worker: go,,dug")
    assert.lengthOf(dig.ran, 1)
    await lead.close()
  })

  it("is parked with the turn, and another process continues both", async () => {
    const store = SessionStore.inMemory()
    const at = gate()
    let started = () => {}
    const running = new Promise<void>((resolve) => started = resolve)
    const first = crew([start, textResponse("meanwhile")], {
      store,
      hooks: [{ name: "note", preToolCall: ({ name }) => void (name === "dig" && started()) }]
    }, at)
    const session = await first.lead.session({ id: "s" })
    const run = session.run("hello")
    await running
    const parking = session.park()
    at.open()
    await parking
    assert.strictEqual((await run).status, "parked")
    await first.lead.close()
    const second = crew([start, textResponse("meanwhile")], { store })
    second.at.open()
    const again = await second.lead.session({ id: "s" })
    assert.strictEqual((await again.resume()).text, "lead: worker: go,,dug")
    // The tool had run in the first process.
    assert.lengthOf(second.dig.ran, 0)
    await second.lead.close()
  })

  it("ends when the turn is cancelled", async () => {
    let ended = false
    const slow = recording("slow", () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => void (ended = true))))
    let begun = () => {}
    const beginning = new Promise<void>((resolve) => begun = resolve)
    const worker = createAgent({ provider: model(() => asks(["slow", {}, "s"])), tools: [slow.tool] })
    const lead = createAgent({
      provider: model(({ messages }) => messages.length > 1 ? textResponse("done") : start),
      tools: [agentTool({ name: "work", description: "Works", agent: worker, background: true })],
      hooks: [{ name: "note", preToolCall: ({ name }) => void (name === "slow" && begun()) }]
    })
    const stop = new AbortController()
    const run = lead.run("hello", { signal: stop.signal }).then(() => "ended", String)
    await beginning
    stop.abort()
    assert.notStrictEqual(await run, "ended")
    assert.isTrue(ended)
    await lead.close()
  })

  it("is awaited when another agent takes the conversation over in the same step", async () => {
    const dig = recording("dig", () => "dug")
    const worker = createAgent({
      provider: model(({ messages }) =>
        messages.at(-1)?.role === "tool" ? textResponse("dug it") : asks(["dig", {}, "d"])
      ),
      tools: [dig.tool]
    })
    const other = createAgent({ provider: model(() => textResponse("other here")) })
    const lead = createAgent({
      provider: model(() => asks(["work", { message: "go" }, "w"], ["over", { message: "you" }, "o"])),
      tools: [
        agentTool({ name: "work", description: "Works", agent: worker, background: true }),
        agentTool({ name: "over", description: "Answers", agent: other, type: "transfer", stays: true })
      ]
    })
    const session = await lead.session()
    assert.strictEqual((await session.run("hello")).text, "other here")
    assert.lengthOf(dig.ran, 1)
    assertValid(session.messages)
    assert.include(JSON.stringify(session.messages), "dug it")
    assert.strictEqual((await session.run("again")).text, "other here")
    await lead.close()
  })

  it("is an option of delegations only, and waits in the turn of a sub-agent", async () => {
    const agent = createAgent({ provider: scripted([]).provider })
    assert.throws(
      () => agentTool({ name: "x", description: "X", agent, type: "transfer", background: true }),
      /agentTool\.background/
    )
    const { at, lead } = crew([start])
    at.open()
    const top = createAgent({
      provider: model((request) => {
        const [first] = resultsIn(request)
        return first === undefined ? asks(["lead", { message: "go" }, "l1"]) : textResponse(first)
      }),
      tools: [agentTool({ name: "lead", description: "Leads", agent: lead })]
    })
    assert.strictEqual((await top.run("hello")).text, "lead: worker: go,,dug")
    await top.close()
  })
})
