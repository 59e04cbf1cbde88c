/** A conversation that continues in a fresh session. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import * as HookState from "../../../src/hook/HookState.ts"
import * as SessionStore from "../../../src/port/SessionStore.ts"
import { assertValid, line, recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

const count = HookState.key("count", 0)

/** Rotates when the window is nearly full, and writes down every step of it. */
const rotating = (log: Array<string>, more: Partial<AgentHook> = {}): AgentHook => ({
  name: "rotation",
  onBudget: ({ level }, ctx) => {
    log.push(`onBudget ${level}`)
    if (level === "exceeded") ctx.rotate()
  },
  onSessionStart: ({ sessionId, source }) => void log.push(`onSessionStart ${source} ${sessionId}`),
  onSessionEnd: ({ reason, sessionId }) => void log.push(`onSessionEnd ${reason} ${sessionId}`),
  preCompaction: ({ trigger }) => {
    log.push(`preCompaction ${trigger}`)
    return HookAction.transform({ anchors: ["issue 42"], keepRecent: 2 })
  },
  postCompaction: ({ summary }, ctx) => {
    log.push(`postCompaction ${summary.includes("issue 42")}`)
    ctx.inject("branch main", { pinned: true })
  },
  ...more
})

const long = "x".repeat(1_400)

// rows: B-43
describe("session rotation", () => {
  it("counts the sessions of a conversation in their ids", async () => {
    const rotates: AgentHook = { name: "always", preTurn: (_input, ctx) => ctx.rotate() }
    const earlier = Array.from({ length: 20 }, (_, n) => [
      { role: "user" as const, content: `question ${n} ${long}` },
      { role: "assistant" as const, content: `answer ${n} ${long}` }
    ]).flat()
    for (
      const [id, expected] of [["s", ["s-r2", "s-r3"]], ["s-r9", ["s-r10", "s-r11"]], ["a-r", ["a-r-r2", "a-r-r3"]]]
    ) {
      const { provider } = scripted(["a summary", `one ${long}`, "a summary", "two", "three", "four"])
      await using agent = createAgent({ provider, hooks: [rotates] })
      await using session = await agent.session({ id: id as string, messages: earlier })
      const ids: Array<string> = []
      for (const _turn of [1, 2]) {
        await session.run("go")
        ids.push(session.id)
      }
      assert.deepStrictEqual(ids, expected, id as string)
    }
  })

  it("continues its turn in the fresh session, although its process ended before that one was saved", async () => {
    const rotates: AgentHook = { name: "after tools", postToolCall: (_result, ctx) => ctx.rotate() }
    const store = SessionStore.inMemory()
    const messages = Array.from({ length: 40 }, (_, n) => ({
      role: n % 2 === 0 ? "user" as const : "assistant" as const,
      content: `${n} ${long}`
    }))
    const work = recording("work")
    const agentOf = (commit = store.commit, ...answers: ReadonlyArray<string>) =>
      createAgent({
        provider: scripted(answers.map((answer) => answer === "work" ? asks(["work", {}]) : answer)).provider,
        tools: [work.tool],
        hooks: [rotates],
        store: { ...store, commit },
        log: false
      })
    const away = (commit: SessionStore.Commit) =>
      commit.sessionId === "s-r2" ? Effect.fail("away") : store.commit(commit)
    const first = agentOf(away, "work", "never")
    const lost = await (await first.session({ id: "s", messages })).run("go").catch((error: unknown) => error)
    assert.deepInclude(lost, { _tag: "PortFailed", port: "store" })

    const second = agentOf(store.commit, "done")
    const [session, late] = [await second.session({ id: "s" }), await agentOf().session({ id: "s" })]
    assert.deepInclude(session.waiting, { type: "process", why: "left", turnNumber: 1 })
    assert.deepInclude(await session.resume({}), { status: "completed", text: "done", turnNumber: 1 })
    assert.strictEqual(session.id, "s-r2")
    assert.lengthOf(work.ran, 1)
    assert.lengthOf(session.messages.filter(({ role, content }) => role === "user" && content === "go"), 1)
    assertValid(session.messages)
    const conflict = await late.resume({}).catch((error: unknown) => error)
    assert.include(["SessionConflict", "SessionError", "SnapshotError", "PortFailed"], Object(conflict)._tag)
    assert.lengthOf(work.ran, 1)
    assert.deepEqual((await agentOf().session({ id: "s" })).messages, session.messages)
  })

  it("continues the numbers of events in the fresh session, also in another process", async () => {
    const rotates: AgentHook = { name: "always", preTurn: (_input, ctx) => ctx.rotate() }
    const store = SessionStore.inMemory()
    const numbers: Array<number> = []
    const messages = Array.from({ length: 20 }, (_, n) => [
      { role: "user" as const, content: `question ${n} ${long}` },
      { role: "assistant" as const, content: `answer ${n} ${long}` }
    ]).flat()
    for (const turn of [1, 2]) {
      const { provider } = scripted(["a summary", `answer ${turn} ${long}`])
      const agent = createAgent({ provider, hooks: [rotates], store })
      const session = await agent.session({ id: "s", ...(turn === 1 ? { messages } : {}) })
      session.on(({ seq }) => void numbers.push(seq))
      await session.run("go")
      assert.strictEqual(session.id, `s-r${turn + 1}`)
      await session.release()
    }
    assert.deepStrictEqual(numbers, numbers.map((_, index) => index + 1))
  })

  it("goes through its steps in the documented order, in the middle of a turn, and the turn continues", async () => {
    const log: Array<string> = []
    const store = SessionStore.inMemory()
    const look = recording("look", () => long)
    const model = scripted([
      asks(["look", { n: 1 }, "a"]),
      asks(["look", { n: 2 }, "b"]),
      asks(["look", { n: 3 }, "c"]),
      "all done"
    ])
    await using agent = createAgent({
      provider: model.provider,
      tools: [look.tool],
      window: { tokens: 1_000 },
      store,
      hooks: [rotating(log, {
        postToolCall: (_end, ctx) => void ctx.state.durable.conversation.update(count, (n) => n + 1)
      })]
    })
    agent.on((event) => {
      if (event.type === "rotation") log.push(`rotation ${event.step} ${event.from} ${event.to ?? "-"}`)
    })
    await using session = await agent.session({ id: "s" })
    const result = await session.run("look into issue 42")
    assert.strictEqual(result.status, "completed")
    assert.strictEqual(result.text, "all done")
    assert.deepStrictEqual(
      log,
      [
        "onSessionStart startup s",
        "onBudget warn",
        "onBudget exceeded",
        "rotation loads-refused s -",
        "preCompaction rotation",
        "rotation handoff s s-r2",
        "onSessionEnd rotate s",
        "onSessionStart rotate s-r2",
        "postCompaction true"
      ]
    )
    assert.deepStrictEqual([session.id, result.sessionId], ["s-r2", "s-r2"])
    assertValid(result.messages)
    assert.match(line(result.messages), /^user \(summary\): .*keep in mind: issue 42/s)
    assert.isTrue(model.requests.at(-1)!.messages.some(({ content }) => content === "branch main"))
    const [old, fresh] = [await Effect.runPromise(store.load("s")), await Effect.runPromise(store.load("s-r2"))]
    assert.strictEqual(old?.phase, "ended")
    assert.strictEqual(fresh?.phase, "ended")
    assert.isAtLeast(fresh?.durable?.conversation["count"] as number, 3)
    for (const id of ["s", "s-r2"]) {
      assert.match((await Effect.runPromise(store.artifacts.read(id, "hook:handoff")))!, /issue 42/)
      const [handoff] = await Effect.runPromise(store.artifacts.list(id))
      assert.deepInclude(handoff, { key: "hook:handoff", mimeType: "text/markdown", by: "runtime" })
    }
    assert.strictEqual((await session.run("next")).sessionId, "s-r2")
  })

  it("keeps large results out while it is due, with a reference to each", async () => {
    const log: Array<string> = []
    const early: AgentHook = { name: "early", preToolCall: (_call, ctx) => ctx.rotate() }
    const model = scripted([asks(["look", {}, "a"]), "done"])
    await using agent = createAgent({
      provider: model.provider,
      tools: [recording("look", () => "y".repeat(5_000)).tool],
      hooks: [early, rotating(log)]
    })
    await using session = await agent.session({
      id: "s",
      messages: [{ role: "user", content: long }, { role: "assistant", content: long }]
    })
    const { messages } = await session.run("go")
    assert.match(
      line(messages),
      /tool look!: the context is nearly full: this result of 5000 characters was not loaded\. It is <artifact:hook:load\/a>/
    )
    assert.strictEqual(session.id, "s-r2")
    assertValid(messages)
  })

  it("continues with a warning if the handoff cannot be stored", async () => {
    const warnings: Array<string> = []
    const artifacts = SessionStore.inMemory().artifacts
    await using agent = createAgent({
      provider: scripted(["one"]).provider,
      artifacts: { ...artifacts, write: () => Effect.fail("disk full") },
      hooks: [rotating([], { preTurn: (_input, ctx) => ctx.rotate() })]
    })
    agent.on((event) => {
      if (event.type === "warning") warnings.push(`${event.hook}: ${event.message}`)
    })
    await using session = await agent.session({
      id: "s",
      messages: [{ role: "user", content: long }, { role: "assistant", content: long }]
    })
    assert.strictEqual((await session.run("go")).sessionId, "s-r2")
    assert.include(warnings, "runtime: the handoff and the artifacts of s could not be copied: disk full")
  })

  it("does not happen when a hook rejects the handoff", async () => {
    const log: Array<string> = []
    const model = scripted(["one", "two"])
    await using agent = createAgent({
      provider: model.provider,
      hooks: [
        rotating(log, { preTurn: (_input, ctx) => ctx.rotate(), preCompaction: () => HookAction.reject("not now") })
      ]
    })
    await using session = await agent.session({
      id: "s",
      messages: [{ role: "user", content: long }, { role: "assistant", content: long }]
    })
    assert.strictEqual((await session.run("go")).sessionId, "s")
    assert.deepStrictEqual(log, ["onSessionStart startup s"])
  })

  it("is tried once if the conversation cannot be made shorter, and then large results are kept", async () => {
    let tries = 0
    let isFirst = true
    const once: AgentHook = {
      name: "once",
      preTurn: (_input, ctx) => ctx.rotate(),
      preCompaction: () => {
        tries++
        return isFirst ? HookAction.reject("not now") : undefined
      }
    }
    const model = scripted([asks(["look", {}, "a"]), asks(["look", {}, "b"]), "done"])
    const look = recording("look", () => {
      isFirst = false
      return "y".repeat(5_000)
    })
    await using agent = createAgent({ provider: model.provider, tools: [look.tool], hooks: [once], log: false })
    await using session = await agent.session({
      id: "s",
      messages: [{ role: "user", content: long }, { role: "assistant", content: long }]
    })
    const { messages } = await session.run("go")
    assert.deepStrictEqual([tries, session.id], [1, "s"])
    assert.notInclude(line(messages), "nearly full")
  })
})
