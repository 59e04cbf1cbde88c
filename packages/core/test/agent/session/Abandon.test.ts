/** Ending a turn that waits, without running it. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import * as SessionStore from "../../../src/port/SessionStore.ts"
import { assertValid, failureOf, line, recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

const asking = (store?: SessionStore.SessionStore, execute?: () => unknown) => {
  const pay = recording("pay", execute)
  const agent = createAgent({
    provider: scripted([asks(["pay", {}, "p"]), "done", "next"]).provider,
    tools: [pay.tool],
    hooks: [{ name: "gate", preToolCall: () => HookAction.ask("?") }],
    ...(store === undefined ? {} : { store })
  })
  return { agent, pay }
}

describe("abandon", () => {
  it("ends a turn that waits for people, in the store too, and says why its calls did not run", async () => {
    const store = SessionStore.inMemory()
    const { agent, pay } = asking(store)
    const session = await agent.session({ id: "s" })
    await session.run("go")
    await session.release()
    const other = await asking(store).agent.session({ id: "s" })
    assert.isTrue(await other.abandon("not run: nobody needs it"))
    assert.strictEqual(other.waiting.type, "nothing")
    assert.isFalse(await other.abandon())
    const state = await Effect.runPromise(store.load("s"))
    assert.deepInclude(state, { phase: "ended", turnNumber: 1 })
    assertValid(state!.messages)
    assert.match(JSON.stringify(state!.messages), /not run: nobody needs it/)
    assert.deepStrictEqual((await Effect.runPromise(store.list())).map(({ status }) => status), ["idle"])
    assert.strictEqual((await failureOf(other.resume({ p: { type: "approve" } })))["_tag"], "SnapshotError")
    assert.deepStrictEqual(pay.ran, [])
    await agent.close()
  })

  it("does not say that a sub-agent did not run which has worked before its question", async () => {
    const { agent: worker, pay } = asking()
    const provider = scripted([asks(["work", { message: "pay" }, "w"]), "next"]).provider
    const lead = createAgent({ provider, tools: [agentTool({ name: "work", description: "w", agent: worker })] })
    const session = await lead.session()
    assert.strictEqual((await session.run("go")).status, "suspended")
    assert.isTrue(await session.abandon())
    assert.include(line(session.messages), "tool work!: interrupted while it ran: its outcome is unknown")
    assert.deepStrictEqual(pay.ran, [])
  })

  it("works without a store, and the next message begins a new turn", async () => {
    const { agent } = asking()
    const session = await agent.session()
    await session.run("go")
    assert.isTrue(await session.abandon())
    const { text, turnNumber } = await session.run("more")
    assert.deepStrictEqual([text, turnNumber], ["done", 2])
    assertValid(session.messages)
    assert.include(line(session.messages), "user: more | assistant: done")
  })

  it("changes nothing if another process was quicker", async () => {
    const store = SessionStore.inMemory()
    const one = await asking(store).agent.session({ id: "s" })
    await one.run("go")
    const two = await asking(store).agent.session({ id: "s" })
    assert.strictEqual((await one.resume({ p: { type: "deny", reason: "no" } })).status, "completed")
    assert.isFalse(await two.abandon())
    assert.strictEqual(two.waiting.type, "nothing")
  })

  it("can be tried again if the store fails", async () => {
    const memory = SessionStore.inMemory()
    let isFull = false
    const commit: typeof memory.commit = (step) => isFull ? Effect.fail("disk full") : memory.commit(step)
    const session = await asking({ ...memory, commit }).agent.session({ id: "s" })
    await session.run("go")
    isFull = true
    assert.strictEqual((await failureOf(session.abandon()))["_tag"], "PortFailed")
    isFull = false
    assert.isTrue(await session.abandon())
    assert.strictEqual((await Effect.runPromise(memory.load("s")))!.phase, "ended")
  })

  it("has the newest conversation if another process was quicker than its save", async () => {
    const memory = SessionStore.inMemory()
    const one = await asking(memory).agent.session({ id: "s" })
    await one.run("go")
    let isFirst = true
    const commit: typeof memory.commit = (step) => {
      const quicker = isFirst ? Effect.promise(async () => one.resume({ p: { type: "approve" } })) : Effect.void
      isFirst = false
      return Effect.andThen(quicker, memory.commit(step))
    }
    const two = await asking({ ...memory, commit }).agent.session({ id: "s" })
    assert.strictEqual((await failureOf(two.abandon()))["_tag"], "PortFailed")
    assert.strictEqual(line(two.messages), line(one.messages))
  })

  it("is refused while another process runs the turn", async () => {
    const store = SessionStore.inMemory()
    let begin = () => {}
    let end = () => {}
    const [hasBegun, mayEnd] = [
      new Promise<void>((resolve) => begin = resolve),
      new Promise<void>((resolve) => end = resolve)
    ]
    const { agent } = asking(store, () => (begin(), mayEnd))
    const one = await agent.session({ id: "s" })
    await one.run("go")
    const two = await asking(store).agent.session({ id: "s" })
    const resumed = one.resume({ p: { type: "approve" } })
    await hasBegun
    assert.strictEqual((await failureOf(two.abandon()))["problem"], "busy")
    end()
    assert.strictEqual((await resumed).status, "completed")
  })

  it("is refused while a turn runs", async () => {
    let abandoned: Promise<unknown> | undefined
    const agent = createAgent({
      provider: scripted([]).provider,
      hooks: [{ name: "h", preTurn: async () => void (await (abandoned = failureOf(session.abandon()))) }]
    })
    const session = await agent.session()
    await session.run("go")
    assert.deepInclude(await abandoned, { _tag: "SessionError", problem: "busy" })
  })
})
