/** What a sub-agent has from the agent that delegates to it, and what it brings itself. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { AgentConfig } from "../../../src/agent/AgentConfig.ts"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as ArtifactStore from "../../../src/port/ArtifactStore.ts"
import { asks, scripted } from "../../support/model.ts"

const client = (name: string): NonNullable<AgentConfig["http"]> => ({
  request: ({ url }) => Effect.succeed({ status: 200, headers: {}, body: name, url })
})
const servers = (name: string): NonNullable<AgentConfig["mcp"]> => ({
  callTool: () => Effect.succeed({ content: [{ type: "text", text: name }], isError: false }),
  listTools: () => Effect.succeed([{ server: name, name: "t", description: "", inputSchema: {} }])
})

const nothing = (): undefined => undefined

/** Runs a worker for a lead. Returns what a hook of the worker sees. */
const seenBy = async (ofWorker: Partial<AgentConfig>, ofLead: Partial<AgentConfig>) => {
  const seen: { [part: string]: unknown } = {}
  const look: AgentHook = {
    name: "look",
    preTurn: function*(_input, ctx) {
      seen["cwd"] = ctx.cwd
      seen["http"] = yield* Effect.orElseSucceed(
        Effect.map(ctx.http({ url: "https://example.com/" }), ({ body }) => body),
        nothing
      )
      seen["mcp"] = yield* Effect.orElseSucceed(Effect.map(ctx.mcp.listTools(), ([tool]) => tool?.server), nothing)
      yield* ctx.artifacts.write("note", "text")
    }
  }
  const worker = createAgent({ name: "worker", provider: scripted(["worked"]).provider, hooks: [look], ...ofWorker })
  await using lead = createAgent({
    provider: scripted([asks(["work", { message: "x" }]), "done"]).provider,
    tools: [agentTool({ name: "work", description: "w", agent: worker })],
    ...ofLead
  })
  const { sessionId } = await lead.run("go")
  return { seen, sessionId }
}

describe("a sub-agent", () => {
  it("uses the clients of its lead, and its own where the lead has none", async () => {
    const own = { http: client("worker"), mcp: servers("worker") }
    const lead = { http: client("lead"), mcp: servers("lead") }
    assert.deepInclude((await seenBy(own, lead)).seen, { http: "lead", mcp: "lead" })
    assert.deepInclude((await seenBy({}, lead)).seen, { http: "lead", mcp: "lead" })
    assert.deepInclude((await seenBy(own, {})).seen, { http: "worker", mcp: "worker" })
    assert.deepInclude((await seenBy({}, {})).seen, { http: undefined, mcp: undefined })
  })

  it("works in its own folder, and in that of its lead if it has none", async () => {
    assert.strictEqual((await seenBy({ cwd: "/srv/worker" }, { cwd: "/srv/lead" })).seen["cwd"], "/srv/worker")
    assert.strictEqual((await seenBy({}, { cwd: "/srv/lead" })).seen["cwd"], "/srv/lead")
  })

  it("stores its artifacts with those of its lead", async () => {
    const [ofWorker, ofLead] = [ArtifactStore.inMemory(), ArtifactStore.inMemory()]
    const { sessionId } = await seenBy({ artifacts: ofWorker }, { artifacts: ofLead })
    const keys = async (store: ArtifactStore.ArtifactStore) =>
      (await Effect.runPromise(store.list(sessionId))).map(({ key }) => key)
    assert.deepStrictEqual([await keys(ofWorker), await keys(ofLead)], [[], ["hook:note"]])
  })

  it("runs a hook once that its lead has too, and a different hook of the same name as well", async () => {
    const calls: Array<string> = []
    const count = (what: string): AgentHook => ({
      name: "count",
      preTurn: (_input, { agent }) => void calls.push(`${what} in ${agent.name}`)
    })
    const shared = count("shared")
    const run = async (...ofWorker: ReadonlyArray<AgentHook>) => {
      const worker = createAgent({ name: "worker", provider: scripted(["worked"]).provider, hooks: ofWorker })
      await using lead = createAgent({
        name: "lead",
        provider: scripted([asks(["work", { message: "x" }]), "done"]).provider,
        tools: [agentTool({ name: "work", description: "w", agent: worker })],
        hooks: [shared]
      })
      await lead.run("go")
      return calls.splice(0)
    }
    assert.deepStrictEqual(await run(shared), ["shared in lead", "shared in worker"])
    assert.deepStrictEqual(await run(count("own")), ["shared in lead", "shared in worker", "own in worker"])
    // The name that the hook gets has another hook already.
    const other = { ...count("other"), name: "count@worker" }
    assert.includeMembers(await run(other, count("own")), ["other in worker", "own in worker"])
  })
})
