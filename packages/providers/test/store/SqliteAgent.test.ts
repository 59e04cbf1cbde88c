/** Agents whose sessions are in a SQLite file. */
import { defineHook } from "@belay/core/AgentHook"
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import { type LlmRequest, type LlmResponse, textResponse } from "@belay/core/LlmCall"
import * as Budget from "@belay/hooks/Budget"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Scripted from "@belay/testing/Scripted"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"

const folders: Array<string> = []
const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), "belay-sqlite-"))
  folders.push(made)
  return made
}
afterAll(() => folders.forEach((path) => rmSync(path, { recursive: true, force: true })))

const run = Effect.runPromise

describe("an agent with a SqliteStore", () => {
  const deploy = defineTool({
    name: "deploy",
    description: "Deploys",
    input: { type: "object" },
    execute: () => "deployed"
  })
  const gate = defineHook({
    name: "gate",
    tools: "deploy",
    preToolCall: function*(_call, ctx) {
      yield* ctx.artifacts.append("log", "asked ")
      return HookAction.ask("sure?")
    }
  })

  it("continues where another agent stopped, with its artifacts, budget and standing approvals", async () => {
    const path = join(folder(), "store.db")
    const make = (store: SqliteStore.SqliteStore, script: ReadonlyArray<Scripted.Entry>) =>
      createAgent({
        provider: Scripted.make(script),
        tools: [deploy],
        store: store.sessions,
        approvals: { rules: store.rules },
        hooks: [Budget.make({ ledger: store.ledger, limits: [{ scope: "user", key: () => "ada", calls: 4 }] }), gate]
      })
    {
      using store = SqliteStore.make({ path })
      await using agent = make(store, [Scripted.toolCalls({ name: "deploy", id: "d" })])
      const session = await agent.session({ id: "s" })
      assert.strictEqual((await session.run("go")).status, "suspended")
    }
    using store = SqliteStore.make({ path })
    assert.deepInclude((await run(store.sessions.list()))[0], { id: "s", status: "suspended", turnNumber: 1 })
    await using agent = make(store, ["done", Scripted.toolCalls({ name: "deploy", id: "e" }), "again", "never"])
    const session = await agent.session({ id: "s" })
    assert.lengthOf(session.pending, 1)
    const result = await session.resume({ d: { type: "approve", remember: { what: "tool", scope: "project" } } })
    assert.strictEqual(result.text, "done")
    assert.strictEqual((await session.run("once more")).text, "again")
    assert.strictEqual(await run(store.artifacts.read("s", "hook:log")), "asked asked ")
    const definition = { description: "Deploys", hints: "", schema: "{\"type\":\"object\"}" }
    assert.deepStrictEqual(await run(store.rules.load), [{ hook: "gate", tool: "deploy", definition }])
    const error = await session.run("and again").catch((error: unknown) => error)
    assert.deepInclude(error as object, { _tag: "HookRejected", hook: "budget" })
  })

  it("stores a turn with sub-agents, streamed or not, and continues all of them", async () => {
    const path = join(folder(), "store.db")
    const make = (store: SqliteStore.SqliteStore) => {
      const worker = createAgent({
        name: "worker",
        provider: Scripted.make([
          (request) => said(request, Scripted.toolCalls({ name: "deploy", id: "w" }), "worked"),
          "worked"
        ]),
        tools: [deploy]
      })
      return createAgent({
        provider: Scripted.make([
          (request) =>
            said(request, Scripted.toolCalls({ name: "work", id: "r", args: { message: "deploy it" } }), "done"),
          "done"
        ]),
        tools: [agentTool({ name: "work", description: "Works", agent: worker })],
        store: store.sessions,
        hooks: [gate]
      })
    }
    /** The first answer to what no tool has answered yet. */
    const said = ({ messages }: LlmRequest, first: LlmResponse, then: string) =>
      messages.some(({ role }) => role === "tool") ? textResponse(then) : first
    {
      using store = SqliteStore.make({ path })
      await using agent = make(store)
      const session = await agent.session({ id: "tree" })
      const stream = session.stream("go")
      const points: Array<string> = []
      for await (const { type } of stream) points.push(type)
      assert.strictEqual((await stream.result).status, "suspended")
      assert.include(points, "turn-end")
    }
    using store = SqliteStore.make({ path })
    await using agent = make(store)
    const session = await agent.session({ id: "tree" })
    assert.deepStrictEqual(session.pending.map(({ agent: by, callId }) => [by, callId]), [["worker", "r/w"]])
    const { messages, text } = await session.resume({ "r/w": { type: "approve" } })
    assert.strictEqual(text, "done")
    assert.deepStrictEqual(messages.filter(({ role }) => role === "tool").map(({ content }) => content), ["worked"])
    assert.deepStrictEqual((await run(store.sessions.load("tree")))?.phase, "ended")
    assert.strictEqual(await run(store.artifacts.read("tree", "hook:log")), "asked ")
  })
})
