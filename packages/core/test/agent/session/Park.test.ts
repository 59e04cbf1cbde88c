/** Parking a session: its turn stops at a commit point, and another process continues it. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { AgentConfig } from "../../../src/agent/AgentConfig.ts"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { AgentEvent } from "../../../src/data/AgentEvent.ts"
import type { LlmResponse } from "../../../src/data/LlmCall.ts"
import * as ProviderError from "../../../src/data/ProviderError.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import * as SessionStore from "../../../src/port/SessionStore.ts"
import { assertValid, failureOf, line, recording, within } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

/** A door: `pass` waits until it is opened, and `reached` resolves when somebody waits. */
const door = () => {
  const opened = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  return {
    open: opened.resolve,
    reached: reached.promise,
    pass: async () => {
      reached.resolve()
      await opened.promise
    }
  }
}

/** A model that goes by the history: one entry for each of its own messages so far. */
const lines = (...entries: ReadonlyArray<Partial<LlmResponse> | string>) =>
  scripted([], {
    after: ({ messages }) => entries[messages.filter(({ role }) => role === "assistant").length] ?? "the end"
  }).provider

/** A store that counts its commits. */
const counting = () => {
  const memory = SessionStore.inMemory()
  let commits = 0
  const commit: SessionStore.SessionStore["commit"] = (step) => {
    commits++
    return memory.commit(step)
  }
  return { store: { ...memory, commit }, commits: () => commits }
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 5))

describe("park", () => {
  it("waits for the tool that is running, and another process continues after it", async () => {
    const { commits, store } = counting()
    const gate = door()
    const first = recording("pay", async () => {
      await gate.pass()
      return "paid"
    })
    const second = recording("pay")
    const config = (tool: typeof first.tool): AgentConfig => ({
      provider: lines(asks(["pay", {}, "p"]), asks(["pay", {}, "q"]), "done"),
      tools: [tool],
      store
    })
    const session = await createAgent(config(first.tool)).session({ id: "s" })
    const running = session.run("go")
    await gate.reached
    const parking = session.park()
    await settle()
    gate.open()
    assert.deepStrictEqual(await parking, { type: "process", turnNumber: 1, why: "parked", pending: [] })
    const result = await running
    assert.deepInclude(result, { status: "parked", text: "", steps: 1, toolCalls: 1, pending: [] })
    const before = commits()
    await settle()
    assert.strictEqual(commits(), before)
    const other = await createAgent(config(second.tool)).session({ id: "s" })
    assert.deepStrictEqual(other.waiting, session.waiting)
    const last = await other.resume()
    assert.deepInclude(last, { status: "completed", text: "done", steps: 3 })
    assert.deepStrictEqual([first.ran.length, second.ran.length], [1, 1])
    assertValid(other.messages)
  })

  it("stops before the tools that the model asks for while it is being parked", async () => {
    const { store } = counting()
    const gate = door()
    const pay = recording("pay")
    const model = scripted([() => Effect.as(Effect.promise(gate.pass), asks(["pay"], ["pay"])), "done"])
    const agent = createAgent({ provider: model.provider, tools: [pay.tool], store })
    const session = await agent.session({ id: "s" })
    const running = session.run("go")
    await gate.reached
    const parking = session.park()
    gate.open()
    assert.strictEqual((await parking).type, "process")
    assert.strictEqual((await running).status, "parked")
    assert.lengthOf(pay.ran, 0)
    assert.strictEqual((await session.resume()).text, "done")
    assert.lengthOf(pay.ran, 2)
  })

  it("lets a turn end that needs nothing more", async () => {
    const gate = door()
    const model = scripted([() => Effect.as(Effect.promise(gate.pass), "done")])
    const session = await createAgent({ provider: model.provider, store: counting().store }).session({ id: "s" })
    const running = session.run("go")
    await gate.reached
    const parking = session.park()
    gate.open()
    assert.deepStrictEqual(await parking, { type: "nothing" })
    assert.deepInclude(await running, { status: "completed", text: "done" })
  })

  it("does nothing if no turn runs, and says what waits", async () => {
    const agent = createAgent({
      provider: lines(asks(["pay", {}, "p"]), "done"),
      tools: [recording("pay").tool],
      hooks: [{ name: "gate", preToolCall: () => HookAction.ask("?") }]
    })
    const session = await agent.session()
    assert.deepStrictEqual(await session.park(), { type: "nothing" })
    await session.run("go")
    assert.strictEqual((await session.park()).type, "people")
    assert.strictEqual((await session.resume({ p: { type: "approve" } })).text, "done")
  })

  it("leaves a question open that is being asked in place", async () => {
    const gate = door()
    const pay = recording("pay")
    const config = { provider: lines(asks(["pay", {}, "p"]), "done"), tools: [pay.tool], store: counting().store }
    const agent = createAgent({
      ...config,
      hooks: [{ name: "gate", preToolCall: () => HookAction.ask("?") }],
      onAsk: async () => {
        await gate.pass()
        return { type: "approve" }
      }
    })
    const session = await agent.session({ id: "s" })
    const running = session.run("go")
    await gate.reached
    const waiting = await session.park()
    assert.strictEqual(waiting.type, "people")
    assert.strictEqual((await running).status, "suspended")
    gate.open()
    await settle()
    assert.lengthOf(pay.ran, 0)
    const other = await createAgent(config).session({ id: "s" })
    assert.strictEqual((await other.resume({ p: { type: "approve" } })).text, "done")
    assert.lengthOf(pay.ran, 1)
  })

  it("does not start the other calls of a step that must run alone", async () => {
    const gate = door()
    const pay = recording("pay", async () => {
      await gate.pass()
      return "paid"
    }, { exclusive: true })
    const agent = createAgent({
      provider: lines(asks(["pay", {}, "a"], ["pay", {}, "b"], ["pay", {}, "c"]), "done"),
      tools: [pay.tool],
      store: counting().store
    })
    const session = await agent.session({ id: "s" })
    const running = session.run("go")
    await gate.reached
    const parking = session.park()
    gate.open()
    await parking
    assert.strictEqual((await running).status, "parked")
    assert.lengthOf(pay.ran, 1)
    assert.strictEqual((await session.resume()).status, "completed")
    assert.lengthOf(pay.ran, 3)
  })

  /** Three levels; the worker pays twice, at two places at once. */
  const tree = (pay: ReturnType<typeof recording>, config: Partial<AgentConfig>) => {
    const worker = createAgent({
      name: "worker",
      provider: lines(asks(["pay", {}, "w1"]), asks(["pay", {}, "w2"]), "worked"),
      tools: [pay.tool]
    })
    const lead = createAgent({
      name: "lead",
      provider: lines(asks(["work", { message: "1" }, "l1"], ["work", { message: "2" }, "l2"]), "led"),
      tools: [agentTool({ name: "work", description: "w", agent: worker })]
    })
    return createAgent({
      ...config,
      name: "root",
      provider: lines(asks(["lead", { message: "x" }, "r1"]), "done"),
      tools: [agentTool({ name: "lead", description: "l", agent: lead })]
    })
  }

  it("stops sub-agents at any depth at their own commit points, and all of them continue elsewhere", async () => {
    const { commits, store } = counting()
    const gate = door()
    const slow = recording("pay", async () => {
      await gate.pass()
      return "paid"
    })
    const events: Array<AgentEvent> = []
    const root = tree(slow, { store })
    root.on((event) => void events.push(event))
    const session = await root.session({ id: "s" })
    const running = session.run("go")
    await gate.reached
    await settle()
    const parking = session.park()
    gate.open()
    assert.strictEqual((await parking).type, "process")
    assert.strictEqual((await running).status, "parked")
    assert.lengthOf(slow.ran, 2)
    const before = commits()
    await settle()
    assert.strictEqual(commits(), before)
    const ends = events.filter(({ type }) => type === "turn-end").map((event) => [event.agent, event])
    assert.deepStrictEqual(ends.map(([name]) => name), ["worker", "worker", "lead", "root"])
    const pay = recording("pay")
    const other = await tree(pay, { store }).session({ id: "s" })
    assert.deepStrictEqual(other.waiting, { type: "process", turnNumber: 1, why: "parked", pending: [] })
    assert.strictEqual((await other.resume()).text, "done")
    assert.lengthOf(pay.ran, 2)
  })

  for (const idempotent of [false, true]) {
    it(`interrupts what runs too long: a tool that is ${idempotent ? "" : "not "}idempotent`, async () => {
      const { commits, store } = counting()
      const gate = door()
      const hanging = recording("pay", gate.pass, { idempotent })
      const session = await tree(hanging, { store }).session({ id: "s" })
      const running = session.run("go")
      await gate.reached
      await settle()
      const waiting = await within(session.park({ withinMs: 10 }))
      assert.deepStrictEqual(waiting, { type: "process", turnNumber: 1, why: "parked", pending: [] })
      assert.strictEqual((await running).status, "parked")
      const before = commits()
      gate.open()
      await settle()
      assert.strictEqual(commits(), before)
      const pay = recording("pay", () => "paid", { idempotent })
      const other = await tree(pay, { store }).session({ id: "s" })
      const result = await other.resume()
      assert.strictEqual(result.text, "done")
      // The second payment of each worker, and the first again if that is allowed.
      assert.lengthOf(pay.ran, idempotent ? 4 : 2)
      assertValid(result.messages)
    })
  }

  it("does not wait for the next attempt of a model call", async () => {
    const overloaded = new ProviderError.RateLimited({ provider: "one", message: "later", retryAfterMs: 60_000 })
    const model = scripted([overloaded, "done"])
    const failed = Promise.withResolvers<void>()
    const agent = createAgent({ provider: model.provider, store: counting().store })
    agent.on(({ type }) => type === "llm-error" ? failed.resolve() : undefined)
    const session = await agent.session({ id: "s" })
    const running = session.run("go")
    await failed.promise
    assert.strictEqual((await within(session.park())).type, "process")
    assert.strictEqual((await running).status, "parked")
    const result = await session.resume()
    assert.deepInclude(result, { text: "done", steps: 1 })
  })

  it("refuses a turn that has not begun, and messages in line", async () => {
    const memory = SessionStore.inMemory()
    const gate = door()
    let slow = false
    const store: SessionStore.SessionStore = {
      ...memory,
      revision: (id) => slow ? Effect.andThen(Effect.promise(gate.pass), memory.revision(id)) : memory.revision(id)
    }
    const session = await createAgent({ provider: lines(), store }).session({ id: "s" })
    slow = true
    const running = failureOf(session.run("go"))
    const queued = failureOf(session.run("then this", { whenBusy: "queue" }))
    await gate.reached
    const parking = session.park()
    gate.open()
    assert.deepStrictEqual(await parking, { type: "nothing" })
    for (const refused of [running, queued]) assert.strictEqual((await refused)["problem"], "parked")
    assert.isUndefined(await Effect.runPromise(memory.load("s")))
    assert.strictEqual((await session.run("again")).status, "completed")
  })

  it("gives a snapshot that another agent resumes, without a store", async () => {
    const gate = door()
    const pay = recording("pay", gate.pass)
    const make = (tool = pay.tool) => createAgent({ provider: lines(asks(["pay", {}, "p"]), "done"), tools: [tool] })
    const session = await make().session()
    const running = session.run("go")
    await gate.reached
    const parking = session.park()
    gate.open()
    assert.strictEqual((await parking).type, "process")
    const parked = await running
    assert.strictEqual(parked.status, "parked")
    if (parked.status !== "parked") return
    const result = await make(recording("pay").tool).resume(JSON.stringify(parked.snapshot))
    assert.strictEqual(line(result.messages), "user: go | assistant[pay]:  | tool pay: null | assistant: done")
  })

  it("and cancelling are different: a cancelled turn ends while it is being parked", async () => {
    const gate = door()
    const session = await createAgent({
      provider: lines(asks(["pay", {}, "p"]), "done"),
      tools: [recording("pay", gate.pass).tool],
      store: counting().store
    }).session({ id: "s" })
    const stop = new AbortController()
    const running = failureOf(session.run("go", { signal: stop.signal }))
    await gate.reached
    const parking = session.park()
    stop.abort(new Error("enough"))
    assert.strictEqual((await running)["message"], "enough")
    assert.deepStrictEqual(await within(parking), { type: "nothing" })
    gate.open()
  })
})
