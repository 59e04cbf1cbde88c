/** Transfers that stay: who answers the next messages, and how the conversation goes back and on. */
import { assert, describe, it } from "@effect/vitest"
import type { AgentConfig } from "../../../src/agent/AgentConfig.ts"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { type LlmRequest, type LlmResponse, textResponse as answers } from "../../../src/data/LlmCall.ts"
import { InvalidRequest } from "../../../src/data/ProviderError.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import * as SessionStore from "../../../src/port/SessionStore.ts"
import { assertValid, line, recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

type Say = (request: LlmRequest, last: string) => Partial<LlmResponse>

/** A model that answers by the last message of its request. */
const model = (requests: Array<LlmRequest>, say: Say) =>
  scripted([], {
    after: (request) => {
      requests.push(request)
      const last = request.messages.at(-1)
      const text = last === undefined || last.role === "assistant" ? "" : JSON.stringify(last.content)
      return say(request, text)
    }
  }).provider

/** A lead with two specialists. `refund` is a tool of the first. */
const desk = (more: Partial<AgentConfig> = {}) => {
  const seen = { lead: [] as Array<LlmRequest>, billing: [] as Array<LlmRequest>, tech: [] as Array<LlmRequest> }
  const refund = recording("refund", () => "refunded")
  const billing = createAgent({
    name: "billing",
    tools: [refund.tool],
    provider: model(seen.billing, ({ messages }, last) => {
      if (messages.at(-1)?.role === "tool") return answers("billing did it")
      if (last.includes("refund")) return asks(["refund", { sum: 5 }, `r${seen.billing.length}`])
      if (last.includes("crash")) return asks(["to_tech", { message: last }, `t${seen.billing.length}`])
      if (last.includes("bye")) return asks(["hand_back", { message: "the user says bye" }, `b${seen.billing.length}`])
      return answers("billing here")
    })
  })
  const tech = createAgent({
    name: "tech",
    provider: model(
      seen.tech,
      (_, last) =>
        last.includes("bye") ? asks(["hand_back", { message: "fixed" }, `k${seen.tech.length}`]) : answers("tech here")
    )
  })
  const lead = createAgent({
    name: "lead",
    tools: [
      agentTool({ name: "to_billing", description: "Money", agent: billing, type: "transfer", stays: true }),
      agentTool({ name: "to_tech", description: "Crashes", agent: tech, type: "transfer", stays: true })
    ],
    provider: model(seen.lead, ({ messages }, last) => {
      if (messages.at(-1)?.role === "tool") return answers(`lead read: ${last.slice(0, 60)}`)
      return last.includes("money")
        ? asks(["to_billing", { message: "about money" }, `m${seen.lead.length}`])
        : answers("lead here")
    }),
    log: false,
    ...more
  })
  return { lead, seen, refund }
}

describe("a transfer that stays", () => {
  it("lets the other agent answer the next messages, which remembers what it did, until it hands back", async () => {
    const { lead, refund, seen } = desk()
    const session = await lead.session({ id: "s" })
    const say = async (message: string) => (await session.run(message)).text
    assert.strictEqual(await say("hello"), "lead here")
    assert.strictEqual(await say("money please"), "billing here")
    assert.strictEqual(await say("a refund"), "billing did it")
    assert.strictEqual(await say("and now?"), "billing here")
    assert.lengthOf(refund.ran, 1)
    assert.lengthOf(seen.lead, 2)
    // The specialist reads its earlier call and its result, and the new message once.
    const last = line(seen.billing.at(-1)!.messages)
    assert.match(
      last,
      /assistant\[refund\]: {2}\| tool refund: refunded \| assistant: billing did it \| user: and now\?$/
    )
    assert.match(await say("bye"), /^lead read: .*to_billing hands the conversation back: the user says bye/)
    assert.strictEqual(await say("hello"), "lead here")
    assertValid(session.messages)
    await lead.close()
  })

  it("offers the model of the other agent the tools that pass the conversation on", async () => {
    const { lead, seen } = desk()
    const session = await lead.session()
    await session.run("money please")
    const offered = ({ tools }: LlmRequest) => tools.map(({ name }) => name)
    assert.deepStrictEqual(seen.billing.map(offered), [["refund", "to_tech", "hand_back"]])
    await session.run("crash")
    assert.deepStrictEqual(seen.tech.map(offered), [["to_billing", "hand_back"]])
    await lead.close()
  })

  it("goes on to a third agent, which the next message reaches directly, and back from there", async () => {
    const { lead, seen } = desk()
    const session = await lead.session()
    const say = async (message: string) => (await session.run(message)).text
    await say("money please")
    assert.strictEqual(await say("crash"), "tech here")
    const before = seen.billing.length
    assert.strictEqual(await say("still there?"), "tech here")
    assert.lengthOf(seen.billing, before)
    assert.match(await say("bye"), /to_tech hands the conversation back: fixed/)
    assert.strictEqual(await say("hello"), "lead here")
    assertValid(session.messages)
    await lead.close()
  })

  it("goes back within one message too, also through the agent in between", async () => {
    const { lead } = desk()
    const session = await lead.session()
    await session.run("money please")
    const { text } = await session.run("crash bye")
    assert.match(text, /^lead read: .*to_billing hands the conversation back: fixed/)
    assert.strictEqual((await session.run("hello")).text, "lead here")
    assertValid(session.messages)
    await lead.close()
  })

  it("is in the store: another process continues it, also after a compaction", async () => {
    const store = SessionStore.inMemory()
    const first = desk({ store })
    await (await first.lead.session({ id: "s" })).run("money please")
    await first.lead.close()
    const second = desk({ store })
    const session = await second.lead.session({ id: "s" })
    assert.strictEqual((await session.run("a refund")).text, "billing did it")
    await session.compact()
    assert.strictEqual((await session.run("and now?")).text, "billing here")
    assert.lengthOf(second.seen.lead.filter(({ tools }) => tools.length > 0), 0)
    await second.lead.close()
  })

  it("passes the hooks of the tree with every message, and its questions suspend the run", async () => {
    const delegations: Array<string> = []
    const { lead, refund } = desk({
      hooks: [{
        name: "watch",
        preDelegation: ({ agent, message, type }) => void delegations.push(`${type} ${agent}: ${message}`),
        preToolCall: ({ name }) => name === "refund" ? HookAction.ask("refund?") : undefined
      }]
    })
    const session = await lead.session()
    await session.run("money please")
    const result = await session.run("a refund")
    assert.strictEqual(result.status, "suspended")
    if (result.status !== "suspended") return
    assert.lengthOf(refund.ran, 0)
    const callId = result.pending[0]!.callId
    assert.strictEqual((await session.resume({ [callId]: { type: "approve" } })).text, "billing did it")
    assert.strictEqual((await session.run("and now?")).text, "billing here")
    assert.deepStrictEqual(delegations, [
      "transfer to_billing: about money",
      "transfer to_billing: a refund",
      "transfer to_billing: and now?"
    ])
    await lead.close()
  })

  it("leaves a message to the lead agent if a hook refuses it, and ends if the agent is no longer there", async () => {
    const store = SessionStore.inMemory()
    let isOpen = true
    const { lead } = desk({
      store,
      hooks: [{ name: "shut", preDelegation: () => isOpen ? undefined : HookAction.reject("closed") }]
    })
    const session = await lead.session({ id: "s" })
    const handoffs: Array<unknown> = []
    for await (const event of session.stream("money please")) if (event.type === "handoff") handoffs.push(event.tool)
    isOpen = false
    assert.match((await session.run("a refund")).text, /lead read: .*closed/)
    isOpen = true
    assert.deepStrictEqual(handoffs, ["to_billing"])
    await lead.close()
    const without = createAgent({ provider: scripted([answers("alone")]).provider, store, log: false })
    const warnings: Array<string> = []
    without.on((event) => void (event.type === "warning" && warnings.push(event.message)))
    assert.strictEqual((await (await without.session({ id: "s" })).run("hello")).text, "alone")
    assert.deepStrictEqual(warnings, [
      "the agent behind the tool to_billing took the conversation over and is not there: the lead answers"
    ])
    await without.close()
  })

  it("ends when a hook refuses the answer of the other agent: the lead agent answers the next message", async () => {
    const { lead, seen } = desk({
      hooks: [{ name: "shut", postDelegation: () => HookAction.reject("not said") }]
    })
    const session = await lead.session()
    assert.match((await session.run("money please")).text, /lead read: .*not said/)
    assert.strictEqual((await session.run("hello")).text, "lead here")
    assert.lengthOf(seen.billing, 1)
    await lead.close()
  })

  it("ends when the other agent fails: the lead agent goes on, and answers the next message too", async () => {
    const broken = createAgent({
      name: "billing",
      provider: scripted([new InvalidRequest({ provider: "one", message: "no such model" })]).provider
    })
    const lead = createAgent({
      tools: [agentTool({ name: "over", description: "Money", agent: broken, type: "transfer", stays: true })],
      provider: scripted([asks(["over", { message: "you" }]), "lead goes on", "lead again"]).provider
    })
    const session = await lead.session()
    assert.strictEqual((await session.run("money")).text, "lead goes on")
    assert.strictEqual((await session.run("hello")).text, "lead again")
    await lead.close()
  })

  it("keeps the calls of the other agent in the conversation only if that agent stays", async () => {
    for (const stays of [true, false]) {
      const refund = recording("refund")
      const billing = createAgent({ provider: scripted([asks(["refund"]), "refunded"]).provider, tools: [refund.tool] })
      const lead = createAgent({
        tools: [agentTool({ name: "over", description: "Money", agent: billing, type: "transfer", stays })],
        provider: scripted([asks(["over", { message: "you" }])]).provider
      })
      const { messages } = await lead.run("money")
      assert.strictEqual(line(messages).includes("tool refund: ok"), stays)
      await lead.close()
    }
  })

  it("is an option of transfers only", () => {
    const agent = createAgent({ provider: scripted([]).provider })
    assert.throws(
      () => agentTool({ name: "x", description: "X", agent, stays: true }),
      /agentTool\.stays.*only after `type: "transfer"`/
    )
  })
})
