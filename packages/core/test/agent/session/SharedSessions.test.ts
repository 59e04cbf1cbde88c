/** Sessions that several processes share: here each process is an agent of its own with the same store. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { AgentConfig } from "../../../src/agent/AgentConfig.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import type { RunResult } from "../../../src/guard/RunResult.ts"
import type { AgentHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import * as HookState from "../../../src/hook/HookState.ts"
import * as SessionStore from "../../../src/port/SessionStore.ts"
import { assertValid, failureOf, line, recording } from "../../support/agent.ts"
import { asks, type Line, scripted } from "../../support/model.ts"

const load = (store: SessionStore.SessionStore, id = "s") => Effect.runPromise(store.load(id))

/** A store without the optional operations. */
const plain = ({ commit, load: read }: SessionStore.SessionStore): SessionStore.SessionStore => ({ commit, load: read })

const stores: ReadonlyArray<readonly [string, () => SessionStore.SessionStore]> = [
  ["a store that tells the revision", () => SessionStore.inMemory()],
  ["a store that only loads and commits", () => plain(SessionStore.inMemory())]
]

/** Two agents that share a store, as two processes do. */
const two = (store: SessionStore.SessionStore, more: Partial<AgentConfig> = {}) => {
  const make = (name: string, lines: ReadonlyArray<Line>) =>
    createAgent({ ...more, name, provider: scripted(lines, { after: `${name} says more` }).provider, store })
  return { a: make("a", []), b: make("b", []), make }
}

const hold = () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  return { open: resolve, reached: reached.promise, wait: () => (reached.resolve(), promise) }
}

describe.each(stores)("a session in %s", (_, makeStore) => {
  it("is loaded again by each call after another process has moved it on", async () => {
    const { a, b } = two(makeStore())
    const one = await a.session({ id: "s" })
    await one.run("1")
    const other = await b.session({ id: "s" })
    await other.run("2")
    await one.run("3")
    assert.match(line(one.messages), /^user: 1 .+ user: 2 .+ user: 3 \| assistant: a says more$/)
    const { text } = await other.stream("4").result
    assert.strictEqual(text, "b says more")
    assert.lengthOf(other.messages, 8)
    assert.strictEqual(await a.session({ id: "s" }).then(({ messages }) => messages.length), 8)
    assert.lengthOf(one.messages, 8)
    assertValid(one.messages)
  })

  it("shows what another process did after `reload`", async () => {
    const { a, b } = two(makeStore())
    const one = await a.session({ id: "s" })
    await one.run("1")
    await (await b.session({ id: "s" })).run("2")
    assert.lengthOf(one.messages, 2)
    await one.reload()
    assert.lengthOf(one.messages, 4)
    await one.reload()
    assert.lengthOf(one.messages, 4)
  })

  it("does not run a message again that another process has run meanwhile", async () => {
    const { a, b } = two(makeStore())
    const one = await a.session({ id: "s" })
    await one.run({ message: "1", key: "m1" })
    await (await b.session({ id: "s" })).run({ message: "2", key: "m2" })
    const failed = await failureOf(one.run({ message: "2", key: "m2" }))
    assert.deepInclude(failed, { _tag: "PortFailed", port: "store" })
    assert.match(String(failed.message), /another process has run the message with the key m2/)
    await one.run({ message: "3", key: "m3" })
    assert.match(line(one.messages), /^user: 1 .+ user: 2 .+ user: 3 \| assistant: a says more$/)
  })

  it("does not run a message again that another process runs just before its first commit", async () => {
    const store = makeStore()
    const { b } = two(store)
    const other = await b.session({ id: "s" })
    let meanwhile = (): Promise<unknown> => Promise.resolve()
    const late: SessionStore.SessionStore = {
      ...store,
      commit: (commit) => Effect.andThen(Effect.promise(() => meanwhile()), store.commit(commit))
    }
    const one = await two(late).a.session({ id: "s" })
    await one.run({ message: "1", key: "m1" })
    meanwhile = () => {
      meanwhile = () => Promise.resolve()
      return other.run({ message: "2", key: "m2" })
    }
    const failed = await failureOf(one.run({ message: "2", key: "m2" }))
    assert.match(String(failed.message), /another process has run the message with the key m2/)
    const all = "user: 1 | assistant: a says more | user: 2 | assistant: b says more"
    assert.strictEqual(line((await load(store))!.messages), all)
  })

  it("may run a message again whose key was used before in the same process", async () => {
    const { a, b } = two(makeStore())
    const one = await a.session({ id: "s" })
    await one.run({ message: "1", key: "m" })
    await (await b.session({ id: "s" })).run("2")
    await one.run({ message: "3", key: "m" })
    assert.match(line(one.messages), /^user: 1 .+ user: 2 .+ user: 3 \| assistant: a says more$/)
  })

  it("that was suspended in one process is decided in another, whose session was older", async () => {
    const deploy = recording("deploy")
    const more = {
      tools: [deploy.tool],
      hooks: [{ name: "gate", tools: "deploy", preToolCall: () => HookAction.ask("sure?") }]
    }
    const { make } = two(makeStore(), more)
    const a = make("a", ["hello", "done"])
    const b = make("b", [asks(["deploy", {}, "d"])])
    const one = await a.session({ id: "s" })
    await one.run("1")
    const other = await b.session({ id: "s" })
    assert.strictEqual((await other.run("2")).status, "suspended")
    const result = await one.resume({ d: { type: "approve" } })
    assert.strictEqual(result.text, "done")
    assert.lengthOf(deploy.ran, 1)
    const late = await failureOf(other.resume({ d: { type: "approve" } }))
    assert.match(String(late["message"]), /^turn 2 of session s was continued by another process/)
    assert.strictEqual((await failureOf(other.resume({ d: { type: "approve" } })))["problem"], "finished")
    assert.lengthOf(deploy.ran, 1)
    assert.deepStrictEqual(other.pending, [])
    assert.strictEqual(other.messages.length, one.messages.length)
  })

  it("runs one of two turns that start together; the other starts again, or says that the session is busy", async () => {
    const { make } = two(makeStore())
    const held = hold()
    const a = make("a", [() => Effect.as(Effect.promise(held.wait), "slow")])
    const b = make("b", [])
    const one = await a.session({ id: "s" })
    const other = await b.session({ id: "s" })
    const first = one.run("1")
    await held.reached
    const error = await failureOf(other.run("2"))
    assert.deepStrictEqual([error["_tag"], error["problem"]], ["SessionError", "busy"])
    assert.deepInclude(other.waiting, { type: "process", why: "left", turnNumber: 1 })
    held.open()
    assert.strictEqual((await first).text, "slow")
    assert.strictEqual((await other.run("2")).text, "b says more")
    assert.match(line(other.messages), /^user: 1 \| assistant: slow \| user: 2 \| assistant: b says more$/)
  })

  it("lets a message wait in line for the turn of another process, and for a turn that it left", async () => {
    const { make } = two(makeStore(), { tools: [recording("deploy").tool] })
    const held = hold()
    const a = make("a", [() => Effect.as(Effect.promise(held.wait), "slow")])
    const one = await a.session({ id: "s" })
    const [other, third] = [await make("b", []).session({ id: "s" }), await make("c", []).session({ id: "s" })]
    const first = one.run("1")
    await held.reached
    const queued = [other, third].map((session) => session.run(session === other ? "2" : "3", { whenBusy: "queue" }))
    held.open()
    assert.deepStrictEqual([(await first).text, (await queued[0]!).text, (await queued[1]!).text], [
      "slow",
      "b says more",
      "c says more"
    ])
    await one.reload()
    assert.strictEqual(one.messages.length, 6)
    assertValid(one.messages)
  })

  it("lets several processes at once add their turns, and keeps every turn whole", async () => {
    const store = makeStore()
    const { make } = two(store)
    const agents = ["a", "b", "c", "d"].map((name) => make(name, []))
    const sessions = await Promise.all(agents.map((agent) => agent.session({ id: "s" })))
    const done: Array<string> = []
    await Promise.all(sessions.map(async (session, index) => {
      for (let turn = 0; turn < 5;) {
        const text = `${index}.${turn}`
        const result: RunResult | undefined = await session.run(text).catch(() => undefined)
        if (result === undefined) continue
        done.push(text)
        turn++
      }
    }))
    const kept = await load(store)
    assertValid(kept?.messages ?? [])
    const said = (kept?.messages ?? []).flatMap(({ content, role }) => role === "user" ? [content] : [])
    assert.deepStrictEqual(new Set(said), new Set(done))
    assert.strictEqual(kept?.turnNumber, 20)
    assert.strictEqual(new Set(said).size, said.length)
  })

  it("ends the turn of a process that lost the session, and that process can go on afterwards", async () => {
    const store = makeStore()
    const held = hold()
    const slow = recording("slow", () => held.wait().then(() => "late"))
    const { make } = two(store, { tools: [slow.tool] })
    const a = make("a", [asks(["slow", {}, "x"]), "never", "again"])
    const b = make("b", ["taken over"])
    const one = await a.session({ id: "s" })
    const losing = failureOf(one.run("1"))
    await held.reached
    const other = await b.session({ id: "s" })
    assert.deepInclude(other.waiting, { type: "process", why: "left" })
    assert.strictEqual((await other.resume()).text, "taken over")
    held.open()
    const error = await losing
    assert.deepStrictEqual([error["_tag"], (error["cause"] as { _tag: string })._tag], [
      "PortFailed",
      "SessionConflict"
    ])
    assert.match(String(error["message"]), /another process has changed session s/)
    assert.match(line(one.messages), /tool slow!: unknown outcome: .+ \| assistant: taken over$/)
    await one.run("2")
    assert.strictEqual((await load(store))?.turnNumber, 2)
    assertValid(one.messages)
  })

  it("does not take the commit of another process for its own after an interrupted commit", async () => {
    const memory = makeStore()
    let hang = false
    const started = hold()
    const store: SessionStore.SessionStore = {
      ...memory,
      commit: (step) => hang ? Effect.andThen(Effect.promise(started.wait), memory.commit(step)) : memory.commit(step)
    }
    const a = createAgent({ provider: scripted([], { after: "a" }).provider, store })
    const b = createAgent({ provider: scripted([], { after: "b" }).provider, store: memory })
    const one = await a.session({ id: "s" })
    await one.run("1")
    hang = true
    const stop = new AbortController()
    const cut = failureOf(one.run("2", { signal: stop.signal }))
    await started.reached
    stop.abort(new Error("stop"))
    await cut
    hang = false
    await (await b.session({ id: "s" })).run("3")
    await one.run("4")
    assert.match(
      line((await load(memory))?.messages ?? []),
      /^user: 1 .+ user: 3 \| assistant: b \| user: 4 \| assistant: a$/
    )
  })

  it("says what waits, with the same words in every process", async () => {
    const store = makeStore()
    const deploy = recording("deploy")
    const more = {
      tools: [deploy.tool],
      limits: { steps: 2 },
      hooks: [{ name: "gate", tools: "deploy", preToolCall: () => HookAction.ask("sure?") }] as ReadonlyArray<AgentHook>
    }
    const { make } = two(store, more)
    const one = await make("a", [asks(["deploy", {}, "d"])]).session({ id: "s" })
    assert.deepStrictEqual(one.waiting, { type: "nothing" })
    await one.run("go")
    const elsewhere = async () => (await make("b", []).session({ id: "s" })).waiting
    assert.strictEqual(one.waiting.type, "people")
    assert.deepStrictEqual(await elsewhere(), one.waiting)
    assert.deepStrictEqual(JSON.parse(JSON.stringify(one.waiting)), one.waiting)
    await one.resume({ d: { type: "approve" } })
    await one.run("again, with one step")
    const limited = await make("c", [asks(["deploy", {}, "e"])]).session({ id: "s" })
    await limited.run("go")
    await limited.resume({ e: { type: "deny", reason: "no" } })
    assert.deepStrictEqual(limited.waiting, { type: "nothing" })
    const { make: strict } = two(store, { tools: [recording("look").tool], limits: { steps: 1 } })
    const last = await strict("d", [asks(["look", {}, "l"])]).session({ id: "s" })
    assert.strictEqual((await last.run("look")).status, "limited")
    assert.deepInclude(last.waiting, { type: "limit", limit: "steps", used: 1, max: 1, pending: [] })
    assert.deepStrictEqual(await elsewhere(), last.waiting)
    if (store.list !== undefined) assert.strictEqual((await Effect.runPromise(store.list()))[0]?.status, "limited")
  })

  it("is followed into the session in which another process continued it", async () => {
    const store = makeStore()
    const rotating: AgentHook = {
      name: "rotation",
      preTurn: ({ message }, ctx) => message.startsWith("full") ? ctx.rotate() : undefined
    }
    const { a, b } = two(store, { hooks: [rotating], window: { tokens: 100_000, keepRecent: 1 } })
    const one = await a.session({ id: "s" })
    const other = await b.session({ id: "s" })
    await one.run("a long message ".repeat(100))
    await other.run("a long message ".repeat(100))
    await one.run("full, so rotate")
    assert.strictEqual(one.id, "s-r2")
    await other.run("and on")
    assert.strictEqual(other.id, "s-r2")
    assert.deepStrictEqual(other.messages.slice(0, one.messages.length), one.messages)
    const late = await two(store).a.session({ id: "s" })
    assert.strictEqual(late.id, "s-r2")
    assert.strictEqual(late.messages.length, other.messages.length)
    const same = await a.session({ id: "s" })
    await same.run("the same session")
    assert.strictEqual(one.messages.length, same.messages.length)
    if (store.fork !== undefined) {
      await Effect.runPromise(store.fork("s", "copy"))
      assert.strictEqual((await a.session({ id: "copy" })).id, "copy")
    }
  })

  it("keeps the state of hooks that another process wrote", async () => {
    const count = HookState.key("count", 0)
    const { a, b } = two(makeStore(), {
      hooks: [{ name: "count", preTurn: (__, { state }) => void state.update(count, (n) => n + 1) }]
    })
    const one = await a.session({ id: "s" })
    const other = await b.session({ id: "s" })
    for (const session of [one, other, one, one, other]) await session.run("go")
    assert.strictEqual(other.state.get(count), 5)
  })
})
