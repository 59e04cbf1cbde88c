/** Agents that work for agents: one chain, one run, one set of questions. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { AgentConfig } from "../../../src/agent/AgentConfig.ts"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { type Agent, createAgent } from "../../../src/agent/createAgent.ts"
import type { AgentEvent } from "../../../src/data/AgentEvent.ts"
import { whyInvalid } from "../../../src/data/Message.ts"
import * as RunState from "../../../src/data/RunState.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import * as HookState from "../../../src/hook/HookState.ts"
import * as SessionStore from "../../../src/port/SessionStore.ts"
import { assertValid, failureOf, recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

const gate: AgentHook = {
  name: "gate",
  tools: "deploy",
  reinvoke: "ifChanged",
  preToolCall: ({ args }) => HookAction.ask(`deploy ${JSON.stringify(args)}?`)
}

/**
 * Three levels: root asks two leads, each asks a worker, who deploys; the root deploys too. Models answer by what they
 * have read.
 */
const tree = (hooks: ReadonlyArray<AgentHook> = [gate], more: Partial<AgentConfig> = {}) => {
  const deploy = recording("deploy", ({ to }) => `deployed ${JSON.stringify(to)}`)
  const step = (first: ReturnType<typeof asks>) =>
    scripted([], {
      after: ({ messages }) => messages.some(({ role }) => role === "tool") ? "done" : first
    }).provider
  const worker = createAgent({
    name: "worker",
    provider: step(asks(["deploy", { to: "worker" }, "w"])),
    tools: [deploy.tool]
  })
  const lead = createAgent({
    name: "lead",
    provider: step(asks(["work", { message: "work" }, "l"], ["deploy", { to: "lead" }, "m"])),
    tools: [agentTool({ name: "work", description: "Works", agent: worker }), deploy.tool]
  })
  const root = createAgent({
    name: "root",
    provider: step(
      asks(["one", { message: "one" }, "a"], ["two", { message: "two" }, "b"], ["deploy", { to: "root" }, "c"])
    ),
    tools: [
      agentTool({ name: "one", description: "Leads", agent: lead }),
      agentTool({ name: "two", description: "Leads", agent: lead }),
      deploy.tool
    ],
    hooks,
    ...more
  })
  return { deploy, lead, root, worker }
}

const approve = { type: "approve" } as const

describe("a tree of agents", () => {
  it("surfaces every question at the root, by its path, and resumes all of it once, in another process", async () => {
    const { deploy, root } = tree()
    const first = await root.run("go")
    assert.strictEqual(first.status, "suspended")
    if (first.status !== "suspended") return
    assert.deepStrictEqual(first.pending.map(({ agent, callId }) => `${agent ?? "-"} ${callId}`), [
      "worker a/l/w",
      "lead a/m",
      "worker b/l/w",
      "lead b/m",
      "- c"
    ])
    assert.deepStrictEqual(deploy.ran, [])
    const text = JSON.stringify(first.snapshot)
    assert.deepStrictEqual(RunState.pending(await Effect.runPromise(RunState.decode(text))), first.pending)

    const other = tree()
    const second = await other.root.resume(text, {
      "a/l/w": approve,
      "a/m": { type: "deny", reason: "no" },
      c: approve
    })
    assert.strictEqual(second.status, "suspended")
    if (second.status !== "suspended") return
    assert.deepStrictEqual(second.pending.map(({ callId }) => callId), ["b/l/w", "b/m"])
    assert.deepStrictEqual(other.deploy.ran.map((args) => JSON.stringify(args)).sort(), [
      "{\"to\":\"root\"}",
      "{\"to\":\"worker\"}"
    ])

    const third = tree()
    const last = await third.root.resume(JSON.stringify(second.snapshot), {
      "b/l/w": { type: "edit", args: { to: "edited" } },
      "b/m": { type: "respond", output: "said" }
    })
    assert.strictEqual(last.status, "completed")
    assert.deepStrictEqual(third.deploy.ran, [{ to: "edited" }])
    assertValid(last.messages)
    assert.deepStrictEqual((await failureOf(root.resume(text, { "a/l/x": approve })))["problem"], "wrong-decision")
  })

  it("asks two questions if a model writes an id that looks like the path to a call of a sub-agent", async () => {
    const deploy = recording("deploy")
    const once = (first: ReturnType<typeof asks>) => scripted([first, "done"]).provider
    const worker = createAgent({
      name: "worker",
      provider: once(asks(["deploy", { to: "test" }, "w"])),
      tools: [deploy.tool]
    })
    await using root = createAgent({
      provider: once(asks(["work", { message: "x" }, "a"], ["deploy", { to: "production" }, "a/w"])),
      tools: [agentTool({ name: "work", description: "Works", agent: worker }), deploy.tool],
      hooks: [gate]
    })
    const session = await root.session()
    await session.run("go")
    assert.deepStrictEqual(session.pending.map(({ agent, callId }) => [agent, callId]), [
      ["worker", "a/w"],
      [undefined, "call_1_1_1"]
    ])
    await session.resume({ "a/w": approve })
    assert.deepStrictEqual(deploy.ran, [{ to: "test" }])
    assert.deepStrictEqual(session.pending.map(({ callId }) => callId), ["call_1_1_1"])
  })

  it("runs the root's hooks around everything, before an agent's own hooks, and names the agent in the context", async () => {
    const log: Array<string> = []
    const say = (name: string): AgentHook => ({
      name,
      preToolCall: ({ name: tool }, { agent, root }) =>
        void log.push(`${name} ${agent.name}/${agent.depth}/${agent.invokedBy} ${tool} ${root.turnNumber}`)
    })
    const worker = createAgent({
      name: "worker",
      provider: scripted([asks(["look", {}]), "done"]).provider,
      tools: [recording("look").tool],
      hooks: [say("same"), { ...say("own"), priority: 1 }]
    })
    await using root = createAgent({
      provider: scripted([asks(["work", { message: "x" }]), "done"]).provider,
      tools: [agentTool({ name: "work", description: "w", agent: worker })],
      hooks: [say("same"), { ...say("mine"), tier: "agent" }]
    })
    await root.run("go")
    assert.deepStrictEqual(log, [
      "same agent/0/main work 1",
      "mine agent/0/main work 1",
      "same worker/1/subagent look 1",
      "own worker/1/subagent look 1",
      "same worker/1/subagent look 1"
    ])
  })

  it("runs the hooks of every agent above, each once, at any depth", async () => {
    for (const kind of ["policy", "advisory"] as const) {
      const log: Array<string> = []
      const say = (name: string, by: string): AgentHook => ({
        name,
        kind,
        tools: "look",
        preToolCall: (_, { agent }) => void log.push(`${by} ${agent.depth}`)
      })
      const shared = say("shared", "shared")
      const make = (level: number): Agent =>
        createAgent({
          name: "worker",
          provider: scripted([level === 3 ? asks(["look", {}]) : asks(["work", { message: "x" }]), "done"]).provider,
          hooks: [
            say("guard", `guard ${level}`),
            { ...say("private", `private ${level}`), tier: "agent" },
            ...(level === 0 ? [] : [shared])
          ],
          tools: [
            level === 3 ? recording("look").tool : agentTool({ name: "work", description: "w", agent: make(level + 1) })
          ]
        })
      await using lead = make(0)
      await lead.run("go")
      assert.deepStrictEqual(log, ["guard 0 3", "guard 1 3", "shared 3", "guard 2 3", "guard 3 3", "private 3 3"])
    }
  })

  it("is guarded by an agent in the middle, as that agent is without the lead", async () => {
    const look = recording("look")
    const leaf = () =>
      createAgent({ name: "leaf", provider: scripted([asks(["look", {}]), "done"]).provider, tools: [look.tool] })
    const middle = () =>
      createAgent({
        name: "middle",
        provider: scripted([asks(["leaf", { message: "x" }]), "done"]).provider,
        hooks: [{
          name: "guard",
          kind: "policy",
          preToolCall: ({ name }) => name === "look" ? HookAction.reject("no") : undefined
        }],
        tools: [agentTool({ name: "leaf", description: "l", agent: leaf() })]
      })
    await using alone = middle()
    await alone.run("go")
    await using lead = createAgent({
      provider: scripted([asks(["middle", { message: "x" }]), "done"]).provider,
      tools: [agentTool({ name: "middle", description: "m", agent: middle() })]
    })
    await lead.run("go")
    assert.deepStrictEqual(look.ran, [])
  })

  const usage = { inputTokens: 10, outputTokens: 5 }

  it("lets either policy deny, adds up the costs, and sends events to the root's listeners", async () => {
    const worker = (policy?: "deny") =>
      createAgent({
        name: "worker",
        provider: scripted([{ ...asks(["look", {}]), usage }, { text: "done", usage }]).provider,
        tools: [recording("look").tool],
        ...(policy === undefined ? {} : { policy: { check: () => ({ type: "deny", reason: "inner" }) as const } })
      })
    const run = async (inner?: "deny", outer?: "deny") => {
      const events: Array<AgentEvent> = []
      await using root = createAgent({
        provider: scripted([{ ...asks(["work", { message: "x" }]), usage }, { text: "done", usage }]).provider,
        tools: [agentTool({ name: "work", description: "w", agent: worker(inner) })],
        policy: {
          check: ({ name }) =>
            name === "look" && outer === "deny"
              ? { type: "deny", reason: "outer" }
              : { type: "allow", grant: { sandbox: "none" } }
        }
      })
      root.on((event) => void events.push(event))
      const result = await root.run("go")
      return {
        denied: events.flatMap((event) => event.type === "tool-denied" ? [`${event.agent} ${event.reason}`] : []),
        events,
        result
      }
    }
    assert.deepStrictEqual((await run("deny")).denied, ["worker inner"])
    assert.deepStrictEqual((await run(undefined, "deny")).denied, ["worker outer"])
    const { events, result } = await run()
    assert.deepStrictEqual(result.usage, { inputTokens: 40, outputTokens: 20 })
    assert.strictEqual(events.filter(({ agent, type }) => agent === "worker" && type === "llm-end").length, 2)
    assert.strictEqual(events.filter(({ type }) => type === "session-start").length, 1)
  })

  it("transfers the conversation with `transfer`: the other agent's answer is the answer of the turn", async () => {
    const expert = scripted(["from the expert", "again"])
    const model = scripted([asks(["ask_expert", { message: "take over" }]), "back at the desk"])
    await using root = createAgent({
      provider: model.provider,
      tools: [
        agentTool({
          name: "ask_expert",
          description: "e",
          agent: createAgent({ name: "expert", provider: expert.provider }),
          type: "transfer"
        })
      ]
    })
    await using session = await root.session()
    const first = await session.run("a hard one")
    assert.strictEqual(first.text, "from the expert")
    assert.lengthOf(model.requests, 1)
    assert.deepStrictEqual(expert.requests[0]!.messages.map(({ content }) => content), ["a hard one", "take over"])
    assert.strictEqual(first.messages.at(-1)!.content, "from the expert")
    assert.isUndefined(whyInvalid(first.messages))
    assert.strictEqual((await session.run("next")).text, "back at the desk")
  })

  it("keeps durable state for the conversation: sub-agents, suspension, another process", async () => {
    const count = HookState.key("count", 0)
    const seen: Array<number> = []
    const counting: AgentHook = {
      name: "count",
      preToolCall: ({ id }, ctx) => {
        ctx.state.durable.conversation.update(count, (n) => n + 1)
        ctx.state.durable.call(id).set(count, 7)
      },
      postToolCall: ({ call }, ctx) => void seen.push(ctx.state.durable.call(call.id).get(count))
    }
    const store = SessionStore.inMemory()
    const { root } = tree([counting, gate], { store })
    const session = await root.session({ id: "s" })
    const first = await session.run("go")
    assert.strictEqual(first.status, "suspended")
    const other = tree([counting, gate], { store })
    const again = await other.root.session({ id: "s" })
    assert.deepStrictEqual(again.pending.map(({ callId }) => callId), ["a/l/w", "a/m", "b/l/w", "b/m", "c"])
    const result = await again.resume(Object.fromEntries(again.pending.map(({ callId }) => [callId, approve])))
    assert.strictEqual(result.status, "completed")
    const kept = await Effect.runPromise(store.load("s"))
    assert.isAtLeast(kept!.durable!.conversation["count"] as number, 9)
    assert.deepStrictEqual(kept!.durable!.calls, {})
    assert.isTrue(seen.length >= 9 && seen.every((n) => n === 7))
    assert.deepStrictEqual(other.deploy.ran.length, 5)
    // Another that goes on from the same place loses.
    const stale = await failureOf(root.resume((first as { readonly snapshot?: unknown }).snapshot, {}))
    assert.deepStrictEqual([stale["_tag"], stale["problem"]], ["SnapshotError", "finished"])
    assert.match(String(stale["message"]), /session s has changed since this snapshot/)
    assert.strictEqual(session.waiting.type, "nothing")
  })

  it("is cancelled as a whole", async () => {
    const controller = new AbortController()
    const reached = Promise.withResolvers<void>()
    const slow = recording("slow", (_, { signal }) => {
      reached.resolve()
      return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("cancelled"))))
    })
    const worker = createAgent({ provider: scripted([asks(["slow", {}])]).provider, tools: [slow.tool] })
    await using root = createAgent({
      provider: scripted([asks(["work", { message: "x" }])]).provider,
      tools: [agentTool({ name: "work", description: "w", agent: worker })]
    })
    const run = root.run("go", { signal: controller.signal })
    await reached.promise
    controller.abort(new Error("enough"))
    assert.strictEqual((await failureOf(run))["message"], "enough")
  })
})
