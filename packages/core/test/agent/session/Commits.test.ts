/** How often a session is saved, and why. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookState from "../../../src/hook/HookState.ts"
import * as SessionStore from "../../../src/port/SessionStore.ts"
import { recording } from "../../support/agent.ts"
import { asks, type Line, scripted } from "../../support/model.ts"

/** A store that writes down each commit: the phase and the states of the calls. */
const counting = () => {
  const memory = SessionStore.inMemory()
  const log: Array<string> = []
  const store: SessionStore.SessionStore = {
    ...memory,
    commit: (step) => {
      const { calls, phase } = step.state
      log.push(calls.length === 0 ? phase : `${phase} ${calls.map(({ status }) => status).join(",")}`)
      return Effect.andThen(Effect.yieldNow, memory.commit(step))
    }
  }
  return { store, log, memory }
}

const run = async (lines: ReadonlyArray<Line>, hooks: ReadonlyArray<AgentHook> = []) => {
  const { log, memory, store } = counting()
  const look = recording("look")
  const agent = createAgent({ provider: scripted(lines).provider, tools: [look.tool], store, hooks })
  const session = await agent.session({ id: "s" })
  await session.run("go")
  return { log, memory, session }
}

describe("a session is saved", () => {
  it("twice a step: before its tool and after it; and once at each end of the turn", async () => {
    const { log } = await run([asks(["look"]), asks(["look"]), asks(["look"]), "done"])
    assert.deepStrictEqual(log, [
      "model",
      ...["tools started", "tools done"],
      ...["tools started", "tools done"],
      ...["tools started", "tools done"],
      "ended"
    ])
  })

  it("at most four times for tools that run together, however many there are", async () => {
    const { log } = await run([asks(...Array.from({ length: 50 }, () => ["look"] as const)), "done"])
    assert.isAtMost(log.length, 6)
    assert.strictEqual(log.at(-1), "ended")
  })

  it("before the model if a hook changed something after the tools, and not if it did not", async () => {
    const count = HookState.key("count", 0)
    const lines = () => [asks(["look"]), asks(["look"]), "done"]
    const saves = async (hook: Partial<AgentHook>) => (await run(lines(), [{ name: "h", ...hook }])).log.length
    const quiet = await saves({ postStep: () => undefined })
    assert.strictEqual(quiet, 6)
    assert.strictEqual(await saves({ postStep: (_, { state }) => state.set(count, 1) }), 8)
    assert.strictEqual(await saves({ postStep: (_, { state }) => state.durable.turn.set(count, 1) }), 8)
    assert.strictEqual(await saves({ postStep: (_, { inject }) => inject("more") }), 8)
    assert.strictEqual(
      await saves({ preStop: ({ followUps }, ctx) => followUps === 0 ? ctx.followUp("on") : undefined }),
      7
    )
  })

  it("with what its sub-agents do, as often as one agent for the same steps", async () => {
    const { log, store } = counting()
    const worker = createAgent({
      name: "worker",
      provider: scripted([asks(["look"]), asks(["look"]), "worked"]).provider,
      tools: [recording("look").tool]
    })
    const lead = createAgent({
      provider: scripted([asks(["work", { message: "x" }]), "done"]).provider,
      tools: [agentTool({ name: "work", description: "w", agent: worker })],
      store
    })
    await lead.run("go")
    // The start and the end of the lead, two for each of three tools, and the start and the end of the sub-agent.
    assert.lengthOf(log, 2 + 2 * 3 + 2)
  })

  it("before the model of a sub-agent if its hook changed the state of the conversation", async () => {
    const count = HookState.key("count", 0)
    const saves = async (postStep: NonNullable<AgentHook["postStep"]>) => {
      const { log, store } = counting()
      const worker = createAgent({
        name: "worker",
        provider: scripted([asks(["look"]), "worked"]).provider,
        tools: [recording("look").tool],
        hooks: [{ name: "h", postStep }]
      })
      const lead = createAgent({
        provider: scripted([asks(["work", { message: "x" }]), "done"]).provider,
        tools: [agentTool({ name: "work", description: "w", agent: worker })],
        store
      })
      await lead.run("go")
      return log.length
    }
    const quiet = await saves(() => undefined)
    assert.strictEqual(await saves((_, { state }) => state.durable.conversation.set(count, 1)), quiet + 1)
  })

  it("not at all by reading it, reloading it, or closing it without listeners", async () => {
    const { log, session } = await run(["done"])
    const before = log.length
    await session.reload()
    assert.lengthOf(session.messages, 2)
    await session.close()
    assert.lengthOf(log, before)
  })
})

describe("a save that was interrupted", () => {
  it("is looked up in the store once, before the next save", async () => {
    const memory = SessionStore.inMemory()
    const stop = new AbortController()
    let hangs = false
    let loads = 0
    const store: SessionStore.SessionStore = {
      ...memory,
      load: (id) => Effect.suspend(() => (loads++, memory.load(id))),
      // It is stored, but its answer never comes.
      commit: (step) =>
        Effect.flatMap(memory.commit(step), () => {
          if (!hangs) return Effect.void
          hangs = false
          stop.abort(new Error("stop"))
          return Effect.never
        })
    }
    const look = recording("look")
    const lines = [asks(["look"]), asks(["look"]), asks(["look"]), "done"]
    await using agent = createAgent({ provider: scripted(lines).provider, tools: [look.tool], store, log: false })
    const session = await agent.session({ id: "s" })
    hangs = true
    await session.run("go", { signal: stop.signal }).catch(() => {})
    loads = 0
    const { status } = await session.run("again")
    assert.deepStrictEqual([status, look.ran.length], ["completed", 3])
    assert.isAtMost(loads, 1)
  })

  it("does not leave the turn that was cancelled to another process", async () => {
    const memory = SessionStore.inMemory()
    const stop = new AbortController()
    const store: SessionStore.SessionStore = {
      ...memory,
      // It is stored, and the turn is cancelled before its answer comes.
      commit: (step) =>
        Effect.tap(memory.commit(step), () => {
          stop.abort(new Error("stop"))
          return Effect.yieldNow
        })
    }
    const agentOf = (kept: SessionStore.SessionStore) =>
      createAgent({ provider: scripted(["hello"]).provider, store: kept, log: false })
    await (await agentOf(store).session({ id: "s" })).run("go", { signal: stop.signal }).catch(() => {})
    assert.deepStrictEqual((await agentOf(memory).session({ id: "s" })).waiting, { type: "nothing" })
  })

  it("is not taken for the save of another process that has the same number", async () => {
    const memory = SessionStore.inMemory()
    const stop = new AbortController()
    let isLost = true
    // It is not stored, and its answer never comes.
    const losing: SessionStore.SessionStore = {
      ...memory,
      commit: (step) =>
        Effect.suspend(() => {
          if (!isLost) return memory.commit(step)
          isLost = false
          stop.abort(new Error("stop"))
          return Effect.never
        })
    }
    let count = 0
    const ending: SessionStore.SessionStore = {
      ...memory,
      commit: (step) => Effect.suspend(() => count++ === 0 ? memory.commit(step) : Effect.fail("the process ended"))
    }
    const agentOf = (store: SessionStore.SessionStore) =>
      createAgent({ provider: scripted(["hello", "hello"]).provider, store, log: false })
    const session = await agentOf(losing).session({ id: "s" })
    await session.run("lost", { signal: stop.signal }).catch(() => {})
    await (await agentOf(ending).session({ id: "s" })).run("of the other process").catch(() => {})
    const before = await Effect.runPromise(memory.load("s"))
    assert.include(JSON.stringify(before?.input), "of the other process")
    await session.run("again").catch(() => {})
    const after = await Effect.runPromise(memory.load("s"))
    assert.include(JSON.stringify(after), "of the other process")
  })
})
