/** States as every release wrote them: each of them can still be read and resumed. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import * as RunState from "../../../src/data/RunState.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import * as HookState from "../../../src/hook/HookState.ts"
import * as SessionStore from "../../../src/port/SessionStore.ts"
import { assertValid, failureOf, line, recording } from "../../support/agent.ts"
import { scripted } from "../../support/model.ts"

const folder = new URL("../../golden/", import.meta.url)
const read = (name: string): string => readFileSync(new URL(name, folder), "utf8")
const versions = Array.from({ length: RunState.version }, (_, index) => index + 1)
const files = (kind: string) =>
  versions.map((version) => `run-state-v${version}-${kind}.json`).filter((name) => existsSync(new URL(name, folder)))

/** What a release that writes a new version has to leave here. */
const kinds = ["suspended", "mid-tools", "ended", "sub-agent"]

const calls = HookState.key("golden/calls", 0)

/** The agent whose states these are. */
const agent = () => {
  const look = recording("look", () => "seen again")
  const pay = recording("pay", () => "paid")
  const sync = recording("sync", () => "synced", { idempotent: true })
  const deploy = recording("deploy", () => "deployed")
  const tools = [look.tool, pay.tool, sync.tool, deploy.tool]
  const counted: Array<number> = []
  const hooks: ReadonlyArray<AgentHook> = [
    { name: "gate", tools: "deploy", preToolCall: () => HookAction.ask("production") },
    {
      name: "counter",
      preToolCall: (_call, { state }) => {
        counted.push(state.update(calls, (n) => n + 1))
        return undefined
      }
    }
  ]
  const worker = createAgent({ name: "worker", provider: scripted(["worked"]).provider, tools })
  const lead = createAgent({
    name: "lead",
    provider: scripted(["led"]).provider,
    tools: [agentTool({ name: "work", description: "Works", agent: worker })]
  })
  const root = createAgent({
    name: "root",
    provider: scripted(["done", "and on"]).provider,
    tools: [agentTool({ name: "lead", description: "Leads", agent: lead }), ...tools],
    hooks
  })
  return { root, counted, ran: { look: look.ran, pay: pay.ran, sync: sync.ran, deploy: deploy.ran } }
}

const ada = { type: "approve", by: "ada" } as const

describe("a state of an earlier release", () => {
  it("exists here for every version, and in every kind for the current version", () => {
    for (const kind of kinds) {
      const name = `run-state-v${RunState.version}-${kind}.json`
      assert.isTrue(
        existsSync(new URL(name, folder)),
        `${name} is missing: write it with this release, and never change it`
      )
    }
    for (const version of versions) {
      assert.isNotEmpty(readdirSync(folder).filter((name) => name.startsWith(`run-state-v${version}-`)))
    }
    for (const name of readdirSync(folder)) {
      const [, version] = /^run-state-v(\d+)-[a-z-]+\.json$/.exec(name) ?? []
      assert.strictEqual((JSON.parse(read(name)) as { readonly version: number }).version, Number(version), name)
    }
  })

  it.effect("of this version is read without losing anything", () =>
    Effect.gen(function*() {
      for (const kind of kinds) {
        const text = read(`run-state-v${RunState.version}-${kind}.json`)
        assert.deepStrictEqual(JSON.parse(RunState.encode(yield* RunState.decode(text))), JSON.parse(text))
      }
    }))

  it.effect("of version 1 has no revision: it gets revision 0, and the rest is unchanged", () =>
    Effect.gen(function*() {
      for (const kind of ["suspended", "mid-tools", "ended"]) {
        const old = JSON.parse(read(`run-state-v1-${kind}.json`)) as object
        for (const key of ["revision", "durable"]) assert.notProperty(old, key)
        assert.deepStrictEqual(JSON.parse(RunState.encode(yield* RunState.decode(old))), {
          ...old,
          version: RunState.version,
          revision: 0
        })
      }
    }))

  it.each(files("suspended"))("%s asks what it asked, and goes on when that is decided", async (name) => {
    const { counted, ran, root } = agent()
    const pending = RunState.pending(await Effect.runPromise(RunState.decode(read(name))))
    assert.deepStrictEqual(pending.map(({ args, callId, tool }) => ({ args, callId, tool })), [
      { args: { to: "production" }, callId: "d1", tool: "deploy" }
    ])
    const result = await root.resume(read(name), { d1: ada })
    assert.strictEqual(result.status, "completed")
    assert.strictEqual(
      line(result.messages),
      "user: hi | assistant: hello | user: deploy it | assistant[look]: let me look | tool look: {\"seen\":[\"a\",null,1.5]} | " +
        "user (counter): mind the gap | assistant[look,deploy]:  | tool look: {\"seen\":[\"a\",null,1.5]} | tool deploy: deployed | " +
        "user (counter): mind the gap | assistant: done"
    )
    assertValid(result.messages)
    assert.deepStrictEqual(ran, { look: [], pay: [], sync: [], deploy: [{ to: "production" }] })
    assert.deepStrictEqual(counted, [3])
    assert.strictEqual(result.usage.cachedTokens, 100)
  })

  it.each(files("mid-tools"))("%s repeats what may be repeated, and nothing else", async (name) => {
    const { ran, root } = agent()
    const result = await root.resume(read(name))
    assert.strictEqual(result.status, "completed")
    assert.match(
      line(result.messages),
      /^user: pay them \| assistant\[look,pay,sync\]: {2}\| tool look: \{"seen".+\| tool pay!: unknown outcome: .+ \| tool sync: synced \| .*assistant: done$/
    )
    assertValid(result.messages)
    assert.deepStrictEqual(ran, { look: [], pay: [], sync: [{}], deploy: [] })
  })

  it.each(files("ended"))("%s has nothing to resume, and its conversation goes on", async (name) => {
    assert.strictEqual((await failureOf(agent().root.resume(read(name))))["problem"], "finished")
    const state = await Effect.runPromise(RunState.decode(read(name)))
    const memory = SessionStore.inMemory()
    const { messages, ...rest } = state
    await Effect.runPromise(memory.commit({
      sessionId: state.sessionId,
      revision: Math.max(1, state.revision),
      from: 0,
      messages,
      state: { ...rest, revision: Math.max(1, state.revision) },
      records: [],
      snapshot: () => state
    }))
    await using root = createAgent({ provider: scripted(["and on"]).provider, store: memory })
    const session = await root.session({ id: state.sessionId })
    const { messages: all } = await session.run("more")
    assert.match(
      line(all),
      /^user: look \| assistant\[look\]: .+ \| assistant: seen \| (?:user \(counter\): mind the gap \| )?user: more \| .*assistant: and on$/
    )
    assertValid(all)
    assert.strictEqual(session.state.get(calls), 1)
  })

  it.each(files("sub-agent"))("%s asks for an agent two levels down, and all three go on", async (name) => {
    const { ran, root } = agent()
    const pending = RunState.pending(await Effect.runPromise(RunState.decode(read(name))))
    assert.deepStrictEqual(pending.map(({ agent: by, approvers, callId }) => ({ by, approvers, callId })), [
      { by: "worker", approvers: ["ada"], callId: "r1/k1/w1" }
    ])
    const result = await root.resume(read(name), { "r1/k1/w1": ada })
    assert.strictEqual(result.status, "completed")
    assert.match(line(result.messages), /tool lead: led \| tool look: .+assistant: done$/)
    assertValid(result.messages)
    assert.deepStrictEqual(ran.deploy, [{ to: "production" }])
  })
})
