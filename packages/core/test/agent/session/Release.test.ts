/** Releasing a session: it leaves the memory of the process and does not end. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createAgent } from "../../../src/agent/createAgent.ts"
import * as ToolLoop from "../../../src/agent/ToolLoop.ts"
import type { AgentEvent } from "../../../src/data/AgentEvent.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import * as HookState from "../../../src/hook/HookState.ts"
import * as SessionStore from "../../../src/port/SessionStore.ts"
import { failureOf, line, recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

describe("release", () => {
  it("ends nothing, and the session continues when it is opened again", async () => {
    const ends: Array<string> = []
    const shut: Array<string> = []
    const events: Array<AgentEvent> = []
    const agent = createAgent({
      provider: scripted([]).provider,
      store: SessionStore.inMemory(),
      core: { ...ToolLoop.make(), shutdown: (id) => Effect.sync(() => void shut.push(id)) },
      hooks: [{ name: "end", onSessionEnd: ({ reason }) => void ends.push(reason) }]
    })
    agent.on((event) => void events.push(event))
    const session = await agent.session({ id: "s" })
    await session.run("1")
    await session.release()
    await session.release()
    assert.deepStrictEqual([ends, shut], [[], ["s"]])
    assert.deepStrictEqual(events.filter(({ type }) => type.startsWith("session")).map(({ type }) => type), [
      "session-start",
      "session-release"
    ])
    assert.strictEqual((await failureOf(session.run("late")))["problem"], "closed")
    const again = await agent.session({ id: "s" })
    await again.run("2")
    assert.strictEqual(line(again.messages), "user: 1 | assistant: the end | user: 2 | assistant: the end")
    await again.close()
    assert.deepStrictEqual([ends, shut], [["done"], ["s", "s"]])
    await agent.close()
    assert.deepStrictEqual(ends, ["done"])
    assert.deepStrictEqual(events.map(({ seq }) => seq), events.map((_, index) => index + 1))
  })

  it("leaves a turn that failed because of the store as it was saved last, so that it can be resumed", async () => {
    const pay = recording("pay")
    const memory = SessionStore.inMemory()
    let isAway = false
    const store: SessionStore.SessionStore = {
      ...memory,
      commit: (commit) => Effect.suspend(() => isAway ? Effect.fail("away") : memory.commit(commit))
    }
    const tools = [{
      ...pay.tool,
      execute: (...all: Parameters<typeof pay.tool.execute>) => {
        isAway = true
        return pay.tool.execute(...all)
      }
    }]
    const agent = createAgent({ provider: scripted([asks(["pay", {}, "p"])]).provider, store, tools, log: false })
    const session = await agent.session({ id: "s" })
    assert.deepInclude(await failureOf(session.run("go")), { _tag: "PortFailed", port: "store" })
    isAway = false
    await session.release()
    const again = await createAgent({ provider: scripted(["done"]).provider, store, tools }).session({ id: "s" })
    assert.deepStrictEqual(again.waiting.type, "process")
    assert.strictEqual((await again.resume()).text, "done")
    assert.match(line(again.messages), /^user: go \| assistant.+\| tool.+unknown.+\| assistant: done$/)
  })

  it("saves what the host changed after a turn whose save failed, when a later turn was saved", async () => {
    const memory = SessionStore.inMemory()
    let isAway = true
    const store: SessionStore.SessionStore = {
      ...memory,
      commit: (commit) => Effect.suspend(() => isAway ? Effect.fail("away") : memory.commit(commit))
    }
    const agentOf = () => createAgent({ provider: scripted(["one", "two", "three"]).provider, store, log: false })
    const session = await agentOf().session({ id: "s" })
    assert.deepInclude(await failureOf(session.run("go")), { _tag: "PortFailed", port: "store" })
    isAway = false
    await session.run("again")
    const count = HookState.key("count", 0)
    session.state.set(count, 7)
    await session.release()
    assert.strictEqual((await agentOf().session({ id: "s" })).state.get(count), 7)
  })

  it("keeps a turn that waits for people", async () => {
    const pay = recording("pay")
    const agent = createAgent({
      provider: scripted([asks(["pay", {}, "p"]), "done"]).provider,
      store: SessionStore.inMemory(),
      tools: [pay.tool],
      hooks: [{ name: "gate", preToolCall: () => HookAction.ask("?") }]
    })
    const session = await agent.session({ id: "s" })
    await session.run("go")
    await session.release()
    const again = await agent.session({ id: "s" })
    assert.strictEqual(again.waiting.type, "people")
    assert.strictEqual((await again.resume({ p: { type: "approve" } })).text, "done")
  })

  it("saves what signals, compaction and the host changed outside of turns", async () => {
    const count = HookState.key("count", 0)
    const store = SessionStore.inMemory()
    const make = () =>
      createAgent({
        provider: scripted([]).provider,
        store,
        window: { tokens: 1_000, keepRecent: 2 },
        hooks: [{ name: "h", onSignal: (_, ctx) => void ctx.state.update(count, (n) => n + 1) }]
      })
    const session = await make().session({ id: "s" })
    for (const text of ["1", "2", "3"]) await session.run(text.repeat(2_000))
    await session.signal({ name: "changed", payload: null, blockable: false })
    assert.strictEqual((await Effect.runPromise(store.load("s")))?.hookState["count"], 1)
    assert.isTrue(await session.compact())
    const kept = await Effect.runPromise(store.load("s"))
    assert.isBelow(kept?.messages.length ?? 0, 6)
    assert.deepInclude(kept, { phase: "ended", turnNumber: 3 })
    session.state.set(count, 7)
    await session.release()
    const other = await make().session({ id: "s" })
    assert.strictEqual(other.state.get(count), 7)
    assert.deepStrictEqual(other.messages, kept?.messages)
  })

  it("is refused while a turn runs, and without a store", async () => {
    const opened = Promise.withResolvers<void>()
    const pay = recording("pay", () => opened.promise)
    const lines = [asks(["pay", {}, "p"]), "done"]
    const stored = createAgent({
      provider: scripted(lines).provider,
      tools: [pay.tool],
      store: SessionStore.inMemory()
    })
    const session = await stored.session({ id: "s" })
    const running = session.run("go")
    assert.strictEqual((await failureOf(session.release()))["problem"], "busy")
    opened.resolve()
    assert.strictEqual((await running).text, "done")
    const alone = await createAgent({ provider: scripted([]).provider }).session()
    await alone.run("go")
    const error = await failureOf(alone.release())
    assert.strictEqual(error["problem"], "not-stored")
    assert.match(String(error["message"]), /cannot be released: the agent has no `store`/)
    assert.strictEqual((await alone.run("on")).status, "completed")
  })

  it("leaves nothing of a session in the agent", async () => {
    const agent = createAgent({ provider: scripted([]).provider, store: SessionStore.inMemory() })
    const ends: Array<string> = []
    const session = await agent.session({ id: "s" })
    await session.run("1")
    await session.release()
    agent.on(({ type }) => void ends.push(type))
    await agent.close()
    assert.deepStrictEqual(ends, [])
  })
})
