/** When a host wakes a session that it leaves, and what a host does when it starts and ends. */
import { createAgent } from "@belay/core/createAgent"
import * as Inbox from "@belay/core/Inbox"
import * as SessionStore from "@belay/core/SessionStore"
import type { Advance } from "@belay/server/Engine"
import * as Host from "@belay/server/Host"
import { assert, it as effect } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { describe, it } from "vitest"
import { failure, gate, planner, pollMs, tool } from "../support/hosted.ts"

const run = <A>(effect: Effect.Effect<A, unknown>): Promise<A> => Effect.runPromise(effect)

/** A host whose engine notes the wake-ups, and advances one session when it starts. */
const noting = (more: Partial<Host.Options> = {}, during: () => unknown = () => undefined) => {
  const woken: Array<readonly [id: string, at: number | undefined]> = []
  const inbox = more.store?.inbox ?? Inbox.inMemory()
  const sessions = SessionStore.inMemory()
  const agent = createAgent({ provider: planner(), store: sessions, tools: [tool("work", [], during)], log: false })
  const engine = {
    name: "noting",
    wake: (id: string, at?: number) => Effect.sync(() => void woken.push([id, at])),
    start: (advance: Advance) =>
      Effect.asVoid(Effect.acquireRelease(Effect.forkDetach(advance("s")), (fiber) => Fiber.await(fiber)))
  }
  const parking = gate()
  const watched: Host.HostedAgent = Object.create(agent, {
    session: {
      value: async (options: Parameters<typeof agent.session>[0]) => {
        const session = await agent.session(options)
        const { park } = session
        const parkNow = (...args: Parameters<typeof park>) => {
          const parked = park.apply(session, args)
          parking.open()
          return parked
        }
        return Object.assign(session, { park: parkNow })
      }
    }
  })
  const host = Host.make({ agent: watched, engine, pollMs, ...more, store: { sessions, inbox } })
  return { agent, host, inbox, woken, parking: parking.opened }
}

describe("a session that a host leaves", () => {
  it("is woken again when its first message is due, and not when nothing is left", async () => {
    const { agent, host, woken } = noting()
    const later = Date.now() + 1e6
    await host.send("s", "last", { key: "a", at: later + 5 })
    await host.send("s", "first", { key: "b", at: later })
    await host.send("s", "now", { key: "c" })
    assert.deepEqual(woken.splice(0), [["s", later + 5], ["s", later], ["s", undefined]])
    await host.advance("s")
    assert.deepInclude(await host.status("s", "c"), { status: "done" })
    assert.deepEqual(woken.splice(0), [["s", later]])
    await host.send("t", "now", { key: "c" })
    await host.advance("t")
    assert.deepEqual(woken.splice(0), [["t", undefined]])
    await agent.close()
  })

  it("is woken for others when the process ends in the middle of its turn, and goes on there", async () => {
    const [entered, go] = [gate(), gate()]
    const { agent, host, parking, woken } = noting({}, async () => {
      entered.open()
      await go.opened
    })
    await host.send("s", "do work, work", { key: "a" })
    woken.splice(0)
    const running = await host.start()
    assert.deepInclude(await failure(host.start()), { _tag: "HostError", problem: "started" })
    await entered.opened
    const draining = Promise.resolve(running.drain({ withinMs: 60_000 }))
    const again = Promise.resolve(running.drain())
    await parking
    assert.isTrue((await host.activity()).isDraining)
    go.open()
    await Promise.all([draining, again])
    assert.deepEqual(woken, [["s", undefined]])
    assert.deepInclude(await host.status("s", "a"), { status: "begun", attempts: 1 })
    assert.isFalse((await host.activity()).isDraining)
    // It can be started again.
    await using _again = await host.start()
    assert.deepInclude(await host.result("s", "a"), { status: "completed", text: "did work work" })
    await agent.close()
  })

  it("is woken when it was moved to another release meanwhile", async () => {
    const [entered, go] = [gate(), gate()]
    const { agent, host, inbox, parking, woken } = noting({ release: "one" }, async () => {
      entered.open()
      await go.opened
    })
    await host.send("s", "do work, work", { key: "a" })
    const advancing = Promise.resolve(host.advance("s"))
    await entered.opened
    woken.splice(0)
    await host.move("s", "two")
    assert.deepEqual(woken.splice(0), [["s", undefined]])
    // The turn stops after the call that runs, as soon as the host has seen the move.
    await parking
    go.open()
    await advancing
    assert.deepEqual(woken, [["s", undefined]])
    assert.deepInclude((await run(inbox.open("s")))[0], { status: "begun", release: "two" })
    await agent.close()
  })

  it("begins no other message of a session that another process has moved while a turn ran", async () => {
    const inbox = Inbox.inMemory()
    const { agent, host } = noting(
      { release: "one", pollMs: 60_000, store: { sessions: SessionStore.inMemory(), inbox } },
      () => run(inbox.pin!("s", "two"))
    )
    await host.send("s", "do work", { key: "a" })
    await host.send("s", "and more", { key: "b" })
    await host.advance("s")
    assert.deepInclude(await host.status("s", "b"), { status: "waiting" })
    await agent.close()
  })
})

describe("a host that starts", () => {
  effect.effect(
    "asks nothing of its inbox while it has nothing to send and nothing to remove",
    () =>
      Effect.gen(function*() {
        const asked: Array<string> = []
        const note = <A>(name: string, act: Effect.Effect<A, unknown>) =>
          Effect.andThen(Effect.sync(() => void asked.push(name)), act)
        const plain = Inbox.inMemory()
        const inbox: Inbox.Inbox = {
          ...plain,
          now: note("now", Effect.succeed(0)),
          get: (...args) => note("get", plain.get(...args)),
          prune: (before) => note("prune", plain.prune(before))
        }
        const start = (more: Partial<Host.Options>) =>
          Effect.gen(function*() {
            const sessions = SessionStore.inMemory()
            const agent = createAgent({ provider: planner(), store: sessions, log: false })
            const engine = { name: "idle", wake: () => Effect.void, start: () => Effect.void }
            const running = yield* Host.make({ agent, store: { sessions, inbox }, engine, ...more }).start()
            yield* TestClock.adjust("2 minutes")
            const seen = [...new Set(asked.splice(0))].toSorted()
            yield* running.drain()
            yield* TestClock.adjust("2 minutes")
            assert.deepEqual(asked.splice(0), [])
            return seen
          })
        assert.deepEqual(yield* start({}), [])
        assert.deepEqual(yield* start({ retention: { messages: "1 hour" } }), ["now", "prune"])
        const schedules = [{ name: "n", session: "s", message: "m", every: "1 hour" }] as const
        assert.deepEqual(yield* start({ schedules }), ["get", "now"])
      })
  )

  it("says which engine could not start and why, and can be started again", async () => {
    const { agent, inbox } = noting()
    let isAway = true
    const engine = {
      name: "weak",
      wake: () => Effect.void,
      start: () => isAway ? Effect.fail({ message: "no room" }) : Effect.void
    }
    const store = { sessions: SessionStore.inMemory(), inbox }
    const host = Host.make({ agent, store, engine, pollMs })
    const error = await failure(host.start())
    assert.deepInclude(error, {
      _tag: "HostError",
      problem: "store",
      message: "the engine weak could not start: no room"
    })
    assert.strictEqual(Object(error["cause"]).message, "no room")
    isAway = false
    const running = await host.start()
    for (const withinMs of [-1, "1", NaN, null]) {
      assert.throws(
        () => void running.drain({ withinMs: withinMs as number }),
        /drain\.withinMs: expected milliseconds/
      )
    }
    await running.drain({ withinMs: 0 })
    await agent.close()
  })
})

describe("what is added to a session", () => {
  it("is due five seconds before, so that a clock that is behind does not turn the order", async () => {
    const now = Date.now()
    const { agent, host, inbox, woken } = noting({ store: { inbox: Inbox.inMemory(), sessions: null as never } })
    await host.send("s", "hello", { key: "a" })
    await host.send("s", "hello", { key: "b", at: 7 })
    const [a, b] = await run(inbox.open("s"))
    assert.isAtLeast(a!.at, now - 5_000)
    assert.isAtMost(a!.at, Date.now() - 5_000)
    assert.strictEqual(b!.at, 7)
    assert.deepEqual(await host.send("s", "other", { key: "a" }), { key: "a", type: "known" })
    assert.deepEqual(woken, [["s", undefined], ["s", undefined], ["s", undefined]])
    await agent.close()
  })
})
