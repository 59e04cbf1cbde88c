/** What a host does with messages, decisions and cancellations, on SQLite. */
import { createAgent } from "@belay/core/createAgent"
import * as HookAction from "@belay/core/HookAction"
import type { Inbox } from "@belay/core/Inbox"
import { whyInvalid } from "@belay/core/Message"
import * as SqliteStore from "@belay/providers/SqliteStore"
import type { Engine } from "@belay/server/Engine"
import * as Host from "@belay/server/Host"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { asking, failure, gate, hosted, newFile, planner, pollMs, tool } from "./support/hosted.ts"

const texts = (messages: ReadonlyArray<{ readonly role: string; readonly content: unknown }>) =>
  messages.filter(({ role }) => role === "user" || role === "assistant").map(({ content }) => content)

describe("a host", () => {
  it("answers the messages of a session in the order in which they were sent, each once", async () => {
    const { close, host, store } = hosted(newFile())
    for (const key of ["a", "b", "c"]) {
      assert.deepStrictEqual(await host.send("s", `message ${key}`, { key }), { key, type: "added" })
    }
    assert.deepStrictEqual(await host.send("s", "other", { key: "b" }), { key: "b", type: "known" })
    const running = await host.start()
    const outcome = await host.result("s", "c")
    assert.strictEqual(outcome.status === "completed" ? outcome.text : "", "re: message c")
    const state = await Effect.runPromise(store.sessions.load("s"))
    assert.deepStrictEqual(texts(state!.messages), [
      "message a",
      "re: message a",
      "message b",
      "re: message b",
      "message c",
      "re: message c"
    ])
    assert.deepInclude(await host.status("s", "a"), { status: "done", attempts: 1 })
    await running.drain()
    await close()
  })

  it("begins a new session with the history that is sent along, and ignores it later", async () => {
    const { close, host } = hosted(newFile())
    const history = [{ role: "user", content: "before" }, { role: "assistant", content: "yes" }] as const
    await host.send("s", "first", { history, key: "1" })
    const open = [{ key: "1", kind: "message", status: "waiting" }] as const
    assert.deepInclude(await host.conversation("s"), { messages: [], turnNumber: 0, open })
    await host.advance("s")
    await host.send("s", "second", { history: [{ role: "user", content: "never said" }], key: "2" })
    await host.advance("s")
    const conversation = await host.conversation("s")
    assert.deepStrictEqual(texts(conversation!.messages), [
      "before",
      "yes",
      "first",
      "re: first",
      "second",
      "re: second"
    ])
    assert.deepInclude(conversation, { turnNumber: 2, waiting: { type: "nothing" }, key: "2", open: [] })
    assert.isUndefined(await host.conversation("other"))
    const torn = [{ role: "tool", toolCallId: "c", toolName: "t", content: "" }] as const
    assert.strictEqual((await failure(host.send("new", "hi", { history: torn })))["problem"], "wrong-input")
    await close()
  })

  it("is used from Effect programs too", async () => {
    const { close, host } = hosted(newFile())
    const outcome = await Effect.runPromise(Effect.gen(function*() {
      const { key } = yield* host.send("s", "hello")
      yield* host.advance("s")
      return yield* host.result("s", key)
    }))
    assert.deepInclude(outcome, { status: "completed", text: "re: hello", turnNumber: 1 })
    await close()
  })

  it("begins a message when it is due, and those after it do not wait for it", async () => {
    const { close, host } = hosted(newFile())
    const at = Date.now() + 3_000
    await host.send("s", "later", { key: "later", at: new Date(at) })
    await host.send("s", "now", { key: "now" })
    await host.advance("s")
    assert.strictEqual((await host.status("s", "now"))?.status, "done")
    assert.strictEqual((await host.status("s", "later"))?.status, "waiting")
    await using _running = await host.start()
    await host.result("s", "later")
    assert.isAtLeast(Date.now(), at)
    await close()
  })

  it("says what it runs, and how much is due", async () => {
    const [begun, go] = [gate(), gate()]
    const work = tool("work", [], () => {
      begun.open()
      return go.opened
    })
    const { close, host } = hosted(newFile(), { tools: [work] })
    assert.deepInclude(await host.activity(), { running: [], due: 0 })
    await host.send("waits", "hi", { key: "m" })
    await host.send("later", "hi", { key: "m", at: Date.now() + 60_000 })
    assert.deepInclude(await host.activity(), { running: [], due: 1 })
    await host.send("runs", "do work", { key: "m" })
    void host.advance("runs").then(() => {}, () => {})
    await begun.opened
    const { due, oldest, running } = await host.activity()
    assert.deepStrictEqual([running, due], [["runs"], 2])
    assert.isBelow(oldest!, Date.now())
    go.open()
    await host.result("runs", "m")
    await close()
  })

  it("delivers a steering message to the running turn, and gives it a turn of its own if none runs", async () => {
    const [begun, go] = [gate(), gate()]
    const log: Array<string> = []
    const work = tool("work", log, () => {
      begun.open()
      return go.opened
    })
    const { agent, close, store } = hosted(newFile(), { tools: [work] })
    // The tool ends when the host, which looks again and again, has delivered what it found.
    let looks = 0
    const open: Inbox["open"] = (sessionId) =>
      Effect.tap(store.inbox.open(sessionId), (entries) =>
        Effect.sync(() => {
          if (entries.some(({ kind }) => kind === "steer") && ++looks === 3) go.open()
        }))
    const host = Host.make({ agent, store: { ...store, inbox: { ...store.inbox, open } }, pollMs })
    await using _running = await host.start()
    await host.send("s", "do work", { key: "main" })
    await begun.opened
    await host.send("s", "be brief", { key: "steer", mode: "steer" })
    await host.send("s", "next", { key: "next" })
    assert.deepInclude(await host.result("s", "main"), { status: "completed", text: "did work be brief" })
    assert.deepStrictEqual(await host.result("s", "steer"), { status: "delivered", turnNumber: 1 })
    assert.deepInclude(await host.result("s", "next"), { status: "completed", text: "re: next" })
    await host.send("s", "alone", { key: "alone", mode: "steer" })
    assert.deepInclude(await host.result("s", "alone"), { status: "completed", text: "re: alone", turnNumber: 3 })
    await close()
  })

  it("says what became of decisions that do not fit, and of those that come late", async () => {
    const { close, host } = hosted(newFile(), { tools: [tool("danger", [])], hooks: [asking] })
    await using _running = await host.start()
    const early = await host.decide("s", { c1: { type: "approve" } })
    assert.strictEqual((await host.result("s", early.key)).status, "late")
    await host.send("s", "do danger", { key: "m" })
    const asked = await host.result("s", "m")
    const wrong = await host.decide("s", { other: { type: "approve" } })
    const outcome = await host.result("s", wrong.key)
    assert.strictEqual(outcome.status === "failed" ? outcome.error._tag : outcome.status, "SnapshotError")
    assert.strictEqual((await host.result("s", "m")).status, "suspended")
    const { callId } = asked.status === "suspended" ? asked.pending[0]! : assert.fail()
    const denied = await host.decide("s", { [callId]: { type: "deny", reason: "no" } })
    assert.strictEqual((await host.result("s", denied.key)).status, "completed")
    const late = await host.decide("s", { [callId]: { type: "approve" } })
    assert.strictEqual((await host.result("s", late.key)).status, "late")
    await close()
  })

  it("says that a message is begun again while its turn continues with the answer of a person", async () => {
    const [entered, go] = [gate(), gate()]
    const danger = tool("danger", [], () => {
      entered.open()
      return go.opened
    })
    const { close, host } = hosted(newFile(), { tools: [danger], hooks: [asking] })
    await using _running = await host.start()
    await host.send("s", "do danger", { key: "a" })
    const asked = await host.result("s", "a")
    const callId = asked.status === "suspended" ? asked.pending[0]!.callId : ""
    await host.decide("s", { [callId]: { type: "approve" } })
    await entered.opened
    assert.deepStrictEqual(await host.status("s", "a"), { status: "begun", attempts: 1 })
    go.open()
    assert.strictEqual((await host.result("s", "a")).status, "completed")
    await close()
  })

  it("cancels a message that waits, one that runs and one that waits for people", async () => {
    const begun = gate()
    const log: Array<string> = []
    const work = tool("work", log, () => {
      begun.open()
      return new Promise(() => {})
    })
    const { agent, close, host } = hosted(newFile(), { tools: [work, tool("danger", log)], hooks: [asking] })
    await using _running = await host.start()
    await host.send("s", "do work", { key: "runs" })
    await host.send("s", "never", { key: "waits" })
    await begun.opened
    await host.cancel("s", "waits")
    assert.deepStrictEqual(await host.result("s", "waits"), { status: "cancelled" })
    assert.strictEqual((await host.status("s", "runs"))?.status, "begun")
    const stop = await host.cancel("s", "runs")
    assert.deepStrictEqual(await host.result("s", "runs"), { status: "cancelled" })
    assert.deepStrictEqual(await host.result("s", stop.key), { status: "cancelled" })

    await host.send("s", "do danger", { key: "asks" })
    assert.strictEqual((await host.result("s", "asks")).status, "suspended")
    await host.cancel("s", "asks")
    assert.deepStrictEqual(await host.result("s", "asks"), { status: "cancelled" })
    assert.deepStrictEqual(await host.result("s", "cancel asks"), { status: "cancelled" })
    assert.deepStrictEqual((await host.list()).map(({ status }) => status), ["idle"])
    await host.send("s", "next", { key: "next" })
    assert.strictEqual((await host.result("s", "next")).status, "completed")
    assert.strictEqual((await host.result("s", (await host.cancel("s", "next")).key)).status, "late")
    const session = await agent.session({ id: "s" })
    assert.isUndefined(whyInvalid(session.messages))
    assert.lengthOf(log, 1)
    await close()
  })

  it("reports errors, limits and aborts of turns, and begins the next message", async () => {
    const hook = {
      name: "rules",
      preTurn: ({ message }: { readonly message: string }) =>
        message === "bad" ? HookAction.reject("not this") : message === "stop" ? HookAction.abort("enough") : undefined
    }
    const { close, host } = hosted(newFile(), { tools: [tool("work", [])], hooks: [hook], limits: { steps: 2 } })
    for (const message of ["bad", "stop", "do work, work, work", "good"]) {
      await host.send("s", message, { key: message })
    }
    await host.advance("s")
    const outcomes = await Promise.all(
      ["bad", "stop", "do work, work, work", "good"].map((key) => host.result("s", key))
    )
    assert.deepStrictEqual(outcomes.map(({ status }) => status), ["failed", "aborted", "limited", "completed"])
    assert.deepInclude(outcomes[0], { error: { _tag: "HookRejected", message: "rules rejected preTurn: not this" } })
    assert.deepInclude(outcomes[2], { limit: "steps", max: 2 })
    await close()
  })

  it("refuses what exceeds the capacity, and what is not valid", async () => {
    const { close, host } = hosted(newFile(), {}, { capacity: { perSession: 2, perTenant: 1 } })
    await host.send("s", "1", { tenant: "t" })
    assert.deepInclude(await failure(host.send("s2", "1", { tenant: "t" })), { problem: "full", limit: "perTenant" })
    await host.send("s", "2")
    const error = await failure(host.send("s", "3"))
    assert.deepInclude(error, {
      _tag: "HostError",
      problem: "full",
      limit: "perSession",
      message: "the message to session s was not added, because capacity.perSession is 2 and as many wait: " +
        "send it again later, or raise the limit"
    })
    for (
      const wrong of [
        () => host.send("../s", "1"),
        () => host.send("s", JSON.parse("7")),
        () => host.send("s", "1", { at: NaN }),
        () => host.send("s", "1", { key: "" }),
        () => host.send("s", "1", { key: "cancel k" }),
        () => host.send("s", "1", Object({ kye: "k" })),
        () => host.send("s", "1", Object({ mode: "now" })),
        () => host.send("s", "1", Object({ tenant: 5 })),
        () => host.send("s", "1", JSON.parse("null")),
        () => host.decide("s", { c: { type: "approve" } }, JSON.parse("null")),
        () => host.cancel("s", JSON.parse("null")),
        () => host.result("s", Object(undefined)),
        () => host.status("s", JSON.parse("5")),
        () => host.conversation(Object(undefined)),
        () => host.conversation("../s"),
        () => host.advance(JSON.parse("null")),
        () => host.decide("s", {}),
        () => host.decide("s", JSON.parse(`{"c1":{"type":"maybe"}}`))
      ]
    ) {
      assert.strictEqual((await failure(wrong()))["problem"], "wrong-input", String(wrong))
    }
    assert.include((await failure(host.send("s", "1", Object({ kye: "k" }))))["message"], "the options are key, at,")
    assert.include((await failure(host.status("s", JSON.parse("5"))))["message"], "the key must be a text")
    assert.include((await failure(host.conversation(Object(undefined))))["message"], "the session id must be")
    assert.include((await failure(host.send("s", JSON.parse("7"))))["message"], "expected a text or { message }")
    assert.strictEqual((await failure(host.result("s", "nobody")))["problem"], "unknown")
    assert.isUndefined(await host.status("s", "nobody"))
    await close()
  })

  it("stops waiting for a result when the signal aborts", async () => {
    const { close, host } = hosted(newFile())
    await host.send("s", "hello", { key: "m" })
    const stop = new AbortController()
    const waiting = failure(host.result("s", "m", { signal: stop.signal }))
    stop.abort(new Error("enough"))
    assert.strictEqual((await waiting)["message"], "enough")
    assert.deepInclude(await host.status("s", "m"), { status: "waiting" })
    await close()
  })

  it("refuses to drain within a time that means nothing", async () => {
    const { close, host } = hosted(newFile())
    const running = await host.start()
    for (const withinMs of ["x", Number.NaN, -1]) {
      assert.throws(
        () => void running.drain({ withinMs: withinMs as number }),
        /^drain\.withinMs: expected milliseconds/
      )
    }
    await running.drain({ withinMs: 0 })
    await close()
  })

  it("fails to start twice, and starts again after it was drained", async () => {
    const { close, host } = hosted(newFile())
    const running = await host.start()
    assert.strictEqual((await failure(host.start()))["problem"], "started")
    await running.drain()
    await using _running = await host.start()
    const { key } = await host.send("s", "hello")
    assert.strictEqual((await host.result("s", key)).status, "completed")
    await close()
  })

  it("closes what an engine had opened when its start fails, and can be started again", async () => {
    const log: Array<string> = []
    const engine: Engine = {
      name: "shaky",
      wake: () => Effect.void,
      start: () =>
        Effect.andThen(
          Effect.acquireRelease(Effect.sync(() => log.push("open")), () => Effect.sync(() => log.push("close"))),
          Effect.suspend(() => log.length === 1 ? Effect.fail("away") : Effect.void)
        )
    }
    const { close, host } = hosted(newFile(), {}, { engine })
    assert.match(String((await failure(host.start()))["message"]), /the engine shaky could not start: away/)
    assert.deepStrictEqual(log, ["open", "close"])
    await (await host.start()).drain()
    assert.deepStrictEqual(log, ["open", "close", "open", "close"])
    await close()
  })

  it("wakes a session when a message is sent, and when a dead one is to run again, not for one that is not dead", async () => {
    const woken: Array<readonly [string, number | undefined]> = []
    const engine: Engine = {
      name: "noting",
      wake: (sessionId, at) => Effect.sync(() => void woken.push([sessionId, at])),
      start: () => Effect.void
    }
    const { close, host, store } = hosted(newFile(), {}, { engine })
    const at = Date.now() + 3_600_000
    await host.send("s", "hello", { key: "a" })
    await host.send("later", "hello", { key: "a", at })
    assert.deepStrictEqual(woken.splice(0).map(([id, due]) => [id, due === at]), [["s", false], ["later", true]])
    assert.isFalse(await host.retry("s", "a"))
    assert.isFalse(await host.retry("s", "none"))
    assert.deepStrictEqual(woken, [])
    await Effect.runPromise(store.inbox.report("s", "a", "dead", { status: "dead", attempts: 5, reason: "poison" }))
    assert.isTrue(await host.retry("s", "a"))
    assert.deepStrictEqual(woken.map(([id]) => id), ["s"])
    for (const [id, key] of [["s", 1], [1, "a"]]) {
      assert.strictEqual((await failure(host.retry(id as never, key as never)))["problem"], "wrong-input")
      assert.strictEqual((await failure(host.drop(id as never, key as never)))["problem"], "wrong-input")
    }
    // Only what is dead can be dropped.
    assert.isFalse(await host.drop("later", "a"))
    assert.lengthOf(woken, 1)
    await close()
  })

  it("refuses options that it does not know", () => {
    const agent = createAgent({ provider: planner() })
    assert.throws(() => Host.make(Object({ agent, store: {}, maxAttemps: 3 })), /maxAttempts/)
  })

  it("names the part that is missing or of another kind", () => {
    const { inbox, sessions } = SqliteStore.make({ path: ":memory:" })
    const agent = createAgent({ provider: planner(), store: sessions })
    const cases: ReadonlyArray<readonly [object, RegExp]> = [
      [{ agent: {}, store: { inbox, sessions } }, /^host\.agent: expected an agent of createAgent/],
      [
        { agent: createAgent({ provider: planner() }), store: { inbox, sessions } },
        /^host\.agent: expected an agent with a session store: createAgent\(\{ store/
      ],
      [{ agent, store: sessions }, /^host\.store\.sessions: expected .*SqliteStore.*, found nothing$/],
      [{ agent, store: { sessions } }, /^host\.store\.inbox: expected .*SqliteStore.*, found nothing$/],
      [
        { agent, store: { inbox, sessions }, engine: { make: () => {} } },
        /^host\.engine: expected .*PgBossEngine\.make/
      ]
    ]
    for (const [options, message] of cases) assert.throws(() => Host.make(Object(options)), message)
  })
})
