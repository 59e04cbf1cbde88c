/** The host of an agent that is served without one. */
import { createAgent } from "@belay/core/createAgent"
import * as EventLog from "@belay/core/EventLog"
import * as Inbox from "@belay/core/Inbox"
import * as SessionStore from "@belay/core/SessionStore"
import * as Host from "@belay/server/Host"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { pruneOld } from "../../../src/serve/internal/ownHost.ts"
import { asking, talker, tools } from "../support/served.ts"

describe("what is in memory", () => {
  it("is removed after a time, except what waits for people", async () => {
    const memory = { sessions: SessionStore.inMemory(), inbox: Inbox.inMemory(), events: EventLog.inMemory() }
    const agent = createAgent({
      provider: talker(),
      tools: tools(),
      hooks: [asking],
      store: memory.sessions,
      log: false
    })
    const host = Host.make({ agent, store: memory })
    for (const [session, words] of [["done", "hello"], ["waits", "call delete_file"]] as const) {
      const { key } = await host.send(session, words, { key: "k" })
      await host.advance(session)
      await host.result(session, key)
    }
    const left = async () => {
      const [entries, events] = await Effect.runPromise(
        Effect.all([
          Effect.all(["done", "waits"].map((id) => memory.inbox.get(id, "k"))),
          memory.events.read("done", { limit: 1 })
        ])
      )
      const ids = (await host.list()).map(({ id }) => id).sort()
      return { ids, entries: entries.map((entry) => entry !== undefined), events: events.rows.length }
    }
    await Effect.runPromise(pruneOld(memory, 60_000))
    assert.deepStrictEqual(await left(), { ids: ["done", "waits"], entries: [true, true], events: 1 })
    await Effect.runPromise(pruneOld(memory, -1_000))
    assert.deepStrictEqual(await left(), { ids: ["waits"], entries: [false, true], events: 0 })
    await agent.close()
  })
})
