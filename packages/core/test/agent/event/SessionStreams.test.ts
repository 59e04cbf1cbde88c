/** The streams and listeners of one session: its own events and those of its sub-agents, and no others. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as AgentRuntime from "../../../src/agent/AgentRuntime.ts"
import { agentTool } from "../../../src/agent/agentTool.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { AgentEvent } from "../../../src/data/AgentEvent.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import * as SessionStore from "../../../src/port/SessionStore.ts"
import { recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

const read = async (stream: AsyncIterable<AgentEvent>): Promise<ReadonlyArray<AgentEvent>> => {
  const events: Array<AgentEvent> = []
  for await (const event of stream) events.push(event)
  return events
}

const approve = { type: "approve" } as const

/** A lead that asks a worker, which asks a helper; the helper's tool needs an approval. */
const tree = (store: SessionStore.SessionStore = SessionStore.inMemory()) => {
  const after = (first: ReturnType<typeof asks>, then: string) =>
    scripted([], { after: ({ messages }) => messages.some(({ role }) => role === "tool") ? then : first }).provider
  const helper = createAgent({
    name: "helper",
    provider: after(asks(["pay", {}, "h1"]), "helped"),
    tools: [recording("pay").tool]
  })
  const worker = createAgent({
    name: "worker",
    provider: after(asks(["help", { message: "x" }, "w1"]), "worked"),
    tools: [agentTool({ name: "help", description: "h", agent: helper })]
  })
  return createAgent({
    name: "lead",
    provider: after(asks(["work", { message: "1" }, "l1"], ["work", { message: "2" }, "l2"]), "done"),
    tools: [agentTool({ name: "work", description: "w", agent: worker })],
    hooks: [{ name: "gate", tools: "pay", preToolCall: () => HookAction.ask("?") }],
    store
  })
}

describe("the stream of a session", () => {
  it("has the events of its sub-agents, with the way to each of them", async () => {
    const session = await tree().session({ id: "s" })
    const events = await read(session.stream("go"))
    assert.deepStrictEqual(
      new Set(events.map(({ agentPath }) => agentPath.join("/"))),
      new Set([
        "lead",
        "lead/worker",
        "lead/worker/helper"
      ])
    )
    assert.deepStrictEqual(new Set(events.map(({ rootSessionId }) => rootSessionId)), new Set(["s"]))
    assert.lengthOf(new Set(events.map(({ sessionId }) => sessionId)), 5)
    assert.deepStrictEqual(events.map(({ seq }) => seq), events.map((_, index) => index + 1))
    for (const { agent, agentPath, parent, sessionId } of events) {
      assert.strictEqual(agentPath.at(-1), agent)
      if (agent === "lead") assert.isUndefined(parent)
      else {
        // The parent is the call of another session of this stream, and each session has one parent.
        const start = events.find((event) =>
          event.type === "tool-start" && event.sessionId === parent?.sessionId && event.call.id === parent?.callId
        )
        assert.isDefined(start)
        const parents = events.filter((event) => event.sessionId === sessionId).map((event) => event.parent)
        for (const other of parents) assert.deepStrictEqual(other, parent)
      }
    }
  })

  it("continues with `resumeStream`, here and in another process, and numbers go on", async () => {
    const store = SessionStore.inMemory()
    const session = await tree(store).session({ id: "s" })
    const first = await read(session.stream("go"))
    const decisions = Object.fromEntries(session.pending.map(({ callId }) => [callId, approve]))
    assert.lengthOf(Object.keys(decisions), 2)
    const other = await tree(store).session({ id: "s" })
    const stream = other.resumeStream(decisions)
    const second = await read(stream)
    assert.deepInclude(await stream.result, { status: "completed", text: "done" })
    assert.deepStrictEqual(second.map(({ seq }) => seq), second.map((_, index) => first.length + 1 + index))
    assert.isTrue(second.some((event) => event.agent === "helper" && event.type === "tool-end"))
    assert.isTrue(second.some((event) => event.type === "turn-start" && event.resumed))
    const third = await read(session.stream("on"))
    assert.strictEqual(third[0]?.seq, second.at(-1)!.seq + 1)
  })

  it("of `agent.resumeStream` has the events of a snapshot that is resumed", async () => {
    const suspended = await tree().run("go")
    assert.strictEqual(suspended.status, "suspended")
    if (suspended.status !== "suspended") return
    const decisions = Object.fromEntries(suspended.pending.map(({ callId }) => [callId, approve]))
    const stream = tree().resumeStream(JSON.stringify(suspended.snapshot), decisions)
    const events = await read(stream)
    assert.strictEqual((await stream.result).status, "completed")
    assert.isTrue(events.some(({ agent }) => agent === "helper"))
    assert.deepStrictEqual(
      events.map(({ sessionId }) => sessionId).filter((id) => id === suspended.sessionId).length > 3,
      true
    )
  })

  it("rejects with the error of the run", async () => {
    const session = await tree().session()
    const stream = session.resumeStream()
    const error = await read(stream).catch((failure: unknown) => failure)
    assert.deepInclude(error as object, { _tag: "SnapshotError", problem: "finished" })
    await stream.result.catch(() => {})
  })

  it("has no events of other sessions, and starts with its own turn when it waited in line", async () => {
    const agent = createAgent({
      provider: scripted([], { after: ({ messages }) => `echo ${messages.length}` }).provider
    })
    const [one, two] = await Promise.all([agent.session({ id: "one" }), agent.session({ id: "two" })])
    const all: Array<string> = []
    const heard: Array<string> = []
    agent.on(({ sessionId }) => void all.push(sessionId))
    const stop = one.on(({ sessionId }) => void heard.push(sessionId))
    const streams = [
      one.stream("1"),
      one.stream("2", { whenBusy: "queue" }),
      one.stream("3", { whenBusy: "queue" }),
      two.stream("4")
    ]
    const events = await Promise.all(streams.map(read))
    assert.deepStrictEqual(
      events.map((each) => each.flatMap((event) => event.type === "turn-start" ? [event.message] : [])),
      [["1"], ["2"], ["3"], ["4"]]
    )
    assert.deepStrictEqual(new Set(events[3]!.map(({ sessionId }) => sessionId)), new Set(["two"]))
    assert.deepStrictEqual(new Set(heard), new Set(["one"]))
    assert.deepStrictEqual(new Set(all), new Set(["one", "two"]))
    stop()
    const before = heard.length
    await one.run("5")
    assert.lengthOf(heard, before)
  })

  it("makes only its own session build events and stream from the model", async () => {
    let streamed = 0
    const { provider } = scripted([])
    const agent = createAgent({
      provider: { ...provider, stream: (request, sink) => (streamed++, provider.stream!(request, sink)) }
    })
    const [one, two] = await Promise.all([agent.session(), agent.session()])
    one.on(() => {})
    await two.run("quiet")
    assert.strictEqual(streamed, 0)
    await one.run("loud")
    assert.strictEqual(streamed, 1)
  })

  it.effect("is `onEvent` and `listen` in the Effect API", () =>
    Effect.scoped(Effect.gen(function*() {
      const runtime = yield* AgentRuntime.make({ provider: scripted([]).provider })
      const session = yield* runtime.session()
      const events: Array<string> = []
      const all: Array<string> = []
      session.listen(({ type }) => void all.push(type))
      yield* session.run("one", { onEvent: ({ type }) => void events.push(type) })
      yield* session.run("two")
      assert.strictEqual(events.filter((type) => type === "turn-start").length, 1)
      assert.strictEqual(all.filter((type) => type === "turn-start").length, 2)
      const once: Array<string> = []
      yield* runtime.run("three", { onEvent: ({ type }) => void once.push(type) })
      assert.deepStrictEqual([once[0], once.at(-1)], ["session-start", "session-end"])
    })))
})

describe("a message to a busy session", () => {
  const slow = () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const model = scripted(
      gates.map(({ promise }, index) => () => Effect.as(Effect.promise(() => promise), `${index}`))
    )
    return { agent: createAgent({ provider: model.provider, store: SessionStore.inMemory() }), gates, model }
  }

  it("can wait in line: messages start in order, and one can be taken out of the line", async () => {
    const { agent, gates, model } = slow()
    const session = await agent.session({ id: "s" })
    const stop = new AbortController()
    const first = session.run("a")
    const second = session.run("b", { whenBusy: "queue", signal: stop.signal })
    const third = session.run("c", { whenBusy: "queue" })
    const refused = await session.run("d").catch((error: unknown) => error)
    assert.deepInclude(refused as object, { _tag: "SessionError", problem: "busy" })
    stop.abort(new Error("never mind"))
    assert.match(String(await second.catch((error: unknown) => error)), /never mind/)
    for (const { resolve } of gates) resolve()
    assert.deepStrictEqual([(await first).turnNumber, (await third).turnNumber], [1, 2])
    const said = session.messages.flatMap(({ content, role }) => role === "user" ? [content] : [])
    assert.deepStrictEqual(said, ["a", "c"])
    assert.lengthOf(model.requests, 2)
  })

  it("waits until the turn before it is decided, and fails when the session is closed", async () => {
    const agent = createAgent({
      provider: scripted([asks(["pay", {}, "p"]), "paid", "next"]).provider,
      tools: [recording("pay").tool],
      hooks: [{ name: "gate", preToolCall: () => HookAction.ask("?") }]
    })
    const session = await agent.session()
    const first = session.run("a")
    const second = session.run("b", { whenBusy: "queue" })
    assert.strictEqual((await first).status, "suspended")
    assert.strictEqual(session.waiting.type, "people")
    assert.strictEqual((await session.resume({ p: approve })).text, "paid")
    assert.strictEqual((await second).text, "next")
    const waits = createAgent({ provider: scripted([() => Effect.never]).provider })
    const closing = await waits.session()
    const running = closing.run("a").catch((error: unknown) => error)
    const queued = closing.run("b", { whenBusy: "queue" }).catch((error: unknown) => error)
    await closing.close()
    assert.deepInclude(await queued as object, { _tag: "SessionError", problem: "closed" })
    await running
  })
})
