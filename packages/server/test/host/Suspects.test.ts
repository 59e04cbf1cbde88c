/** Few turns that may end their process run at the same time, and a decision that was begun counts for its own question only. */
import { createAgent } from "@belay/core/createAgent"
import * as Inbox from "@belay/core/Inbox"
import * as SessionStore from "@belay/core/SessionStore"
import type { Engine } from "@belay/server/Engine"
import * as Host from "@belay/server/Host"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { asking, gate, planner, pollMs, tool } from "./support/hosted.ts"

const run = <A>(effect: Effect.Effect<A, unknown>): Promise<A> => Effect.runPromise(effect)

const open = (provider = planner(), log: Array<string> = []) => {
  const [sessions, inbox] = [SessionStore.inMemory(), Inbox.inMemory()]
  const config = { provider, store: sessions, tools: [tool("danger", log)], hooks: [asking], log: false as const }
  const agent = createAgent(config)
  return { agent, inbox, log, host: Host.make({ agent, store: { sessions, inbox }, pollMs, maxAttempts: 9 }) }
}

describe("messages that were begun twice", () => {
  it.for([[0, 2], [1, 2], [2, 2], [7, 2], [8, 1]] as const)(
    "after %d attempts, %d of them run at the same time",
    async ([attempts, together]) => {
      const [entered, release] = [gate(), gate()]
      let [running, most] = [0, 0]
      const { agent, host, inbox } = open(planner(async () => {
        most = Math.max(most, ++running)
        if (running === together) entered.open()
        await release.opened
        running--
      }))
      for (const id of ["a", "b"]) {
        await host.send(id, "good", { key: "k" })
        for (let n = 0; n < attempts; n++) await run(inbox.begin(id, "k"))
      }
      const advancing = ["a", "b"].map((id) => Promise.resolve(host.advance(id)))
      await entered.opened
      // The other one has had its chance when its call has returned, or runs too.
      if (together === 1) await Promise.race(advancing)
      release.open()
      await Promise.all(advancing)
      assert.strictEqual(most, together)
      for (const id of ["a", "b"]) {
        await host.advance(id)
        assert.deepInclude(await host.result(id, "k"), { status: "completed" })
      }
      await agent.close()
    }
  )
})

describe("a suspect that makes progress", () => {
  it("makes room for the others at once, although its turn goes on", async () => {
    const [entered, release, woken] = [gate(), gate(), gate()]
    const [sessions, inbox] = [SessionStore.inMemory(), Inbox.inMemory()]
    const slow = tool("slow", [], async () => {
      entered.open()
      await release.opened
    })
    const [first, second] = [gate(), gate()]
    const provider = planner(async () => {
      first.open()
      await second.opened
    })
    const agent = createAgent({ provider, store: sessions, tools: [slow], log: false })
    let isRunning = false
    const engine: Engine = {
      name: "noting",
      // One that has no room asks again later, so it wakes itself with a time.
      wake: (id, at) => Effect.sync(() => isRunning && id === "b" && at === undefined && woken.open()),
      start: () => Effect.void
    }
    const host = Host.make({ agent, store: { sessions, inbox }, engine, pollMs, maxAttempts: 9 })
    for (const [id, message] of [["a", "do slow"], ["b", "good"]] as const) {
      await host.send(id, message, { key: "k" })
      for (let n = 0; n < 8; n++) await run(inbox.begin(id, "k"))
    }
    const running = Promise.resolve(host.advance("a"))
    await first.opened
    await host.advance("b")
    isRunning = true
    second.open()
    await woken.opened
    await entered.opened
    release.open()
    await running
    await host.advance("b")
    for (const id of ["a", "b"]) assert.deepInclude(await host.result(id, "k"), { status: "completed" })
    await agent.close()
  })
})

describe("a decision that a process had begun to apply", () => {
  const replay = async (fingerprintOf: (asked: string) => string) => {
    const { agent, host, inbox, log } = open()
    await host.send("s", "do danger", { key: "k" })
    await host.advance("s")
    const { waiting } = (await host.conversation("s"))!
    const [ask] = waiting.type === "people" ? waiting.pending : []
    const { key } = await host.decide("s", { [ask!.callId]: { type: "approve" } })
    const asked = [{ callId: ask!.callId, fingerprint: fingerprintOf(ask!.fingerprint) }]
    await run(inbox.report("s", key, "begun", { asked }))
    await host.advance("s")
    const outcome = await host.status("s", key)
    await agent.close()
    return { log, outcome, status: (await host.status("s", "k"))!.status }
  }

  it("is applied again to the question that it was about", async () => {
    const { log, status } = await replay((asked) => asked)
    assert.lengthOf(log, 1)
    assert.strictEqual(status, "done")
  })

  it("does not run the tool for another question about the same call", async () => {
    const { log, outcome, status } = await replay(() => "another question")
    assert.deepStrictEqual(log, [])
    assert.deepInclude(outcome, { status: "done" })
    assert.strictEqual(status, "suspended")
  })
})

describe("a turn that fails because its store fails", () => {
  it("is no longer one that runs in this process", async () => {
    const [entered, release] = [gate(), gate()]
    const [sessions, inbox] = [SessionStore.inMemory(), Inbox.inMemory()]
    const work = tool("danger", [], async () => {
      entered.open()
      await release.opened
    })
    const agent = createAgent({ provider: planner(), store: sessions, tools: [work], log: false })
    const delivered = gate()
    const broken: Inbox.Inbox = {
      ...inbox,
      report: (id, key, status, outcome) =>
        key === "steer"
          ? Effect.andThen(Effect.sync(delivered.open), Effect.fail("away"))
          : inbox.report(id, key, status, outcome)
    }
    const steering = gate()
    const watched: Host.HostedAgent = Object.create(agent, {
      session: {
        value: async (options: Parameters<typeof agent.session>[0]) => {
          const session = await agent.session(options)
          const { steer } = session
          return Object.assign(session, {
            steer: (...args: Parameters<typeof steer>) => (steering.open(), steer.apply(session, args))
          })
        }
      }
    })
    const host = Host.make({ agent: watched, store: { sessions, inbox: broken }, pollMs })
    await host.send("s", "do danger, danger", { key: "k" })
    const advancing = Promise.resolve(host.advance("s")).then(() => "ended", (error: unknown) => Object(error)._tag)
    await entered.opened
    await host.send("s", "and this", { key: "steer", mode: "steer" })
    assert.deepStrictEqual((await host.activity()).running, ["s"])
    await steering.opened
    release.open()
    await delivered.opened
    assert.strictEqual(await advancing, "HostError")
    assert.deepStrictEqual((await host.activity()).running, [])
    await agent.close()
  })
})
