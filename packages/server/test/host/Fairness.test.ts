/** Many messages of one tenant or session, and those of others. */
import { ConfigError } from "@belay/core/AgentError"
import * as Inbox from "@belay/core/Inbox"
import * as LocalEngine from "@belay/server/LocalEngine"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { assert, describe, it } from "vitest"
import { failure, gate, hosted, newFile, pollMs, tool } from "./support/hosted.ts"

const run = Effect.runPromise

/** Starts an engine whose calls finish what is due. Returns the order in which sessions were advanced. */
const started = async (inbox: Inbox.Inbox, concurrency: number, isDone: (order: ReadonlyArray<string>) => boolean) => {
  const order: Array<string> = []
  const engine = LocalEngine.make({ inbox, pollMs, concurrency })
  const scope = await run(Scope.make())
  const advance = (sessionId: string) =>
    Effect.gen(function*() {
      order.push(sessionId)
      yield* Effect.sleep(1)
      for (const { key } of yield* inbox.open(sessionId)) yield* inbox.report(sessionId, key, "done", null)
    })
  await run(Scope.provide(engine.start(advance), scope))
  return {
    engine,
    order,
    ended: async () => {
      while (!isDone(order)) await run(Effect.sleep(5))
      await run(Scope.close(scope, Exit.void))
    }
  }
}

const entry = (sessionId: string, tenant: string, at: number) =>
  ({ sessionId, key: "k", kind: "message", body: {}, at, tenant }) as const

describe("the local engine with many sessions", () => {
  it("serves a tenant although another one has thousands of due messages before", async () => {
    const inbox = Inbox.inMemory()
    for (let index = 0; index < 3_000; index++) await run(inbox.add(entry(`big${index}`, "big", 1)))
    for (let index = 0; index < 5; index++) await run(inbox.add(entry(`small${index}`, "small", 2)))
    const isServed = (order: ReadonlyArray<string>) => order.filter((id) => id.startsWith("small")).length === 5
    const { ended, order } = await started(inbox, 4, isServed)
    await ended()
    assert.isBelow(order.length, 100)
  })

  it("does so too if all of them were woken in this process", async () => {
    const inbox = Inbox.inMemory()
    const isServed = (order: ReadonlyArray<string>) => order.includes("small")
    const { ended, engine, order } = await started(inbox, 4, isServed)
    for (let index = 0; index < 3_000; index++) {
      await run(inbox.add(entry(`big${index}`, "big", 1)))
      await run(engine.wake(`big${index}`))
    }
    await run(inbox.add(entry("small", "small", 2)))
    await run(engine.wake("small"))
    const before = order.length
    await ended()
    assert.isBelow(order.length - before, 200)
  })

  it("leaves nothing out", async () => {
    const inbox = Inbox.inMemory()
    const ids = Array.from({ length: 500 }, (_, index) => `s${index}`)
    for (const id of ids) await run(inbox.add(entry(id, id, 1)))
    const { ended, order } = await started(inbox, 4, (order) => new Set(order).size === ids.length)
    await ended()
    assert.deepStrictEqual(new Set(order), new Set(ids))
  })

  it("asks less and less often about a session that stays due, and at once when it has something new", async () => {
    const inbox = Inbox.inMemory()
    const engine = LocalEngine.make({ inbox, pollMs: 5 })
    const scope = await run(Scope.make())
    let calls = 0
    await run(inbox.add(entry("stuck", "t", 1)))
    await run(Scope.provide(engine.start(() => Effect.sync(() => void calls++)), scope))
    await run(Effect.sleep(400))
    assert.isAtLeast(calls, 3)
    assert.isBelow(calls, 10)
    const before = calls
    await run(engine.wake("stuck"))
    while (calls === before) await run(Effect.sleep(1))
    await run(Scope.close(scope, Exit.void))
  })
})

describe("a host with many messages", () => {
  it("lets another session have its turn when one has had it for a second", async () => {
    const log: Array<string> = []
    const [sent, answered] = [gate(), gate()]
    const slow = tool("slow", log, async () => {
      await sent.opened
      await (log.length < 6 ? run(Effect.sleep(300)) : answered.opened)
    })
    const { close, host } = hosted(newFile(), { tools: [slow] }, { concurrency: 1 })
    await using _running = await host.start()
    for (let index = 0; index < 8; index++) await host.send("long", "do slow", { key: `k${index}` })
    await host.send("short", "hi", { key: "m" })
    sent.open()
    await host.result("short", "m")
    answered.open()
    assert.notStrictEqual((await host.status("long", "k7"))?.status, "done")
    await host.result("long", "k7")
    assert.lengthOf(log, 8)
    await close()
  })

  it("refuses what exceeds its capacity, and says which limit it is and what to do", async () => {
    const { close, host } = hosted(newFile(), {}, { capacity: { inAll: 4, perTenant: 2, perSession: 1 } })
    const send = (id: string, tenant?: string) => host.send(id, "hi", tenant === undefined ? {} : { tenant })
    await send("a", "ada")
    for (
      const [id, tenant, limit] of [["a", "eve", "perSession"], ["c", "ada", "perTenant"], [
        "d",
        "bob",
        "inAll"
      ]] as const
    ) {
      if (limit === "perTenant") await send("b", "ada")
      if (limit === "inAll") { for (const one of ["e", "f"]) await send(one) }
      const error = await failure(send(id, tenant))
      assert.deepInclude(error, { _tag: "HostError", problem: "full", limit })
      assert.match(String(error["message"]), new RegExp(`capacity\\.${limit} is \\d .*send it again later`))
    }
    await host.advance("a")
    await send("a", "eve")
    await close()
  })

  it("refuses capacities that mean nothing", () => {
    for (const capacity of [{ perTennant: 3 }, { inAll: 0 }, { inAll: -1 }, { perSession: 1.5 }, { perTenant: "3" }]) {
      let thrown: unknown
      try {
        hosted(newFile(), {}, { capacity: capacity as never })
      } catch (error) {
        thrown = error
      }
      assert.instanceOf(thrown, ConfigError)
      assert.match((thrown as ConfigError).message, /capacity/)
    }
  })
})
