/** An agent that is wrapped, copied or derived still works as a sub-agent: it carries what delegation needs. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as AgentRuntime from "../../../src/agent/AgentRuntime.ts"
import { agentTool, delegationTarget } from "../../../src/agent/agentTool.ts"
import { type Agent, createAgent } from "../../../src/agent/createAgent.ts"
import { defineTool } from "../../../src/agent/defineTool.ts"
import { line } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

const worker = () => createAgent({ name: "worker", provider: scripted(["found it"]).provider })

/** Forwards to another agent, and counts its runs. */
class CountingAgent implements Agent {
  runs = 0
  private readonly inner: Agent

  constructor(inner: Agent) {
    this.inner = inner
  }
  get [delegationTarget]() {
    return this.inner[delegationTarget]
  }
  run: Agent["run"] = (input, options) => {
    this.runs++
    return this.inner.run(input, options)
  }
  stream: Agent["stream"] = (input, options) => this.inner.stream(input, options)
  session: Agent["session"] = (options) => this.inner.session(options)
  resume: Agent["resume"] = (snapshot, decisions, options) => this.inner.resume(snapshot, decisions, options)
  resumeStream: Agent["resumeStream"] = (snapshot, decisions, options) =>
    this.inner.resumeStream(snapshot, decisions, options)
  on: Agent["on"] = (listener) => this.inner.on(listener)
  close = () => this.inner.close();
  [Symbol.asyncDispose]() {
    return this.close()
  }
}

const wrappers: ReadonlyArray<readonly [name: string, wrap: (agent: Agent) => Agent]> = [
  ["a copy of its properties", (agent) => ({ ...agent })],
  ["a proxy", (agent) => new Proxy(agent, {})],
  [
    "a proxy that replaces a method",
    (agent) =>
      new Proxy(agent, { get: (target, key) => key === "run" ? () => assert.fail("run") : Reflect.get(target, key) })
  ],
  ["an object created from it", (agent) => Object.create(agent) as Agent],
  ["a frozen copy", (agent) => Object.freeze({ ...agent })],
  ["a class that forwards to it", (agent) => new CountingAgent(agent)],
  ["a wrapper of a wrapper", (agent) => new CountingAgent(new Proxy({ ...agent }, {}))]
]

describe("a sub-agent", () => {
  for (const [name, wrap] of wrappers) {
    it(`may be ${name}`, async () => {
      await using inner = worker()
      const model = scripted([asks(["help", { message: "look" }])])
      const tool = agentTool({ name: "help", description: "Helps", agent: wrap(inner) })
      await using lead = createAgent({ provider: model.provider, tools: [tool] })
      const { messages } = await lead.run("go")
      assert.include(line(messages), "tool help: found it")
    })
  }

  it("may be a wrapped tool around a wrapped agent", async () => {
    await using inner = worker()
    const model = scripted([asks(["help", { message: "look" }])])
    const tool = { ...agentTool({ name: "help", description: "Helps", agent: { ...inner } }), exclusive: true }
    await using lead = createAgent({ provider: model.provider, tools: [tool] })
    assert.include(line((await lead.run("go")).messages), "tool help: found it")
  })

  it("may be the runtime of an Effect program, and a copy of it", () =>
    Effect.runPromise(Effect.scoped(Effect.gen(function*() {
      const runtime = yield* AgentRuntime.make({ name: "worker", provider: scripted(["found it"]).provider })
      const tool = agentTool({ name: "help", description: "Helps", agent: { ...runtime } })
      const model = scripted([asks(["help", { message: "look" }])])
      const lead = yield* AgentRuntime.make({ provider: model.provider, tools: [tool] })
      assert.include(line((yield* lead.run("go")).messages), "tool help: found it")
    }))))

  it("is guarded by the hooks of its parent in each of these forms", async () => {
    const asked: Array<string> = []
    await using inner = worker()
    const model = scripted([asks(["help", { message: "look" }])])
    await using lead = createAgent({
      provider: model.provider,
      tools: [agentTool({ name: "help", description: "Helps", agent: new CountingAgent(inner) })],
      hooks: [{ name: "watch", preLlmCall: (_request, ctx) => void asked.push(`${ctx.agent.name} ${ctx.agent.depth}`) }]
    })
    await lead.run("go")
    assert.deepStrictEqual(asked, ["agent 0", "worker 1", "agent 0"])
  })

  for (const wrong of [{}, { run: async () => "" }, () => {}]) {
    it(`cannot be ${typeof wrong === "function" ? "a function" : JSON.stringify(Object.keys(wrong))}, and the error says so`, () => {
      const tool = {
        ...defineTool({ name: "help", description: "x", input: { type: "object" }, execute: () => 1 }),
        delegate: { agent: wrong, type: "delegate" as const }
      }
      assert.throws(
        () => createAgent({ provider: scripted([]).provider, tools: [tool] }),
        /tools\.help: tool "help" delegates to something that is not an agent/
      )
    })
  }
})
