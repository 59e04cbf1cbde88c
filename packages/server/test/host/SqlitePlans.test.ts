/** What a message costs with SQLite does not depend on how many there were before: no statement reads a whole table. */
import { createAgent } from "@belay/core/createAgent"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Host from "@belay/server/Host"
import * as Effect from "effect/Effect"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "vitest"
import { newFile, planner, pollMs, tool } from "./support/hosted.ts"

/** Notes the statements that are prepared while a function runs. */
const statementsOf = async (act: () => Promise<unknown>): Promise<ReadonlySet<string>> => {
  const seen = new Set<string>()
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its database
  const { prepare } = DatabaseSync.prototype
  DatabaseSync.prototype.prepare = function(...args) {
    seen.add(args[0])
    return prepare.apply(this, args)
  }
  try {
    await act()
  } finally {
    DatabaseSync.prototype.prepare = prepare
  }
  return seen
}

/** How many parameters a statement has: those with a number may be there several times. */
const parametersOf = (sql: string): number => {
  const numbers = [...sql.matchAll(/\?(\d*)/g)].map(([, number = ""]) => number)
  return Math.max(numbers.filter((number) => number === "").length, ...numbers.map(Number))
}

describe("a host with SQLite", () => {
  it("reads no whole table for a message, a decision, a cancellation or a look for what is due", async () => {
    const path = newFile()
    const seen = await statementsOf(async () => {
      const store = SqliteStore.make({ path })
      const agent = createAgent({ provider: planner(), store: store.sessions, tools: [tool("bomb", [])], log: false })
      const capacity = { inAll: 100, perTenant: 100, perSession: 100 }
      const host = Host.make({ agent, store, pollMs, capacity })
      const running = await host.start()
      for (const session of ["a", "b"]) {
        const { key } = await host.send(session, "do bomb", { tenant: "ada" })
        await host.result(session, key)
        await host.cancel(session, key)
        await host.conversation(session)
        const stop = new AbortController()
        for await (const { event } of host.events(session, { signal: stop.signal })) {
          if (event.type === "turn-end") stop.abort()
        }
      }
      await Effect.runPromise(store.inbox.due({ until: 1e15, limit: 10, fair: true }))
      await Effect.runPromise(store.inbox.prune(0))
      await host.activity()
      await running.drain()
      await agent.close()
      store.close()
    })
    const database = new DatabaseSync(path)
    const statements = [...seen].filter((sql) =>
      /^\s*(?:SELECT|UPDATE|DELETE)/i.test(sql) && !/sqlite_|PRAGMA/.test(sql)
    )
    assert.isAbove(statements.length, 8)
    const whole = statements.flatMap((sql) =>
      database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...Array<number>(parametersOf(sql)).fill(1))
        .map((row) => String(row["detail"]))
        // The indexes that a scan may use contain only what is open, or what is asked for.
        .filter((detail) =>
          /^SCAN (?!\(|CONSTANT)/.test(detail) && !/USING INDEX inbox_(?:open|due|ready)/.test(detail)
        )
        .map((detail) => `${detail}: ${sql}`)
    )
    assert.deepStrictEqual(whole, [])
    database.close()
  })

  it("does not look at the sessions that wait for people to find what is due", async () => {
    const path = newFile()
    const seen = await statementsOf(async () => {
      using store = SqliteStore.make({ path })
      await Effect.runPromise(store.inbox.due({ until: 1e15, limit: 10, fair: true }))
    })
    const due = [...seen].find((sql) => sql.includes("min(at) AS first"))!
    using database = new DatabaseSync(path)
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${due}`).all(...Array<number>(parametersOf(due)).fill(1))
    const reads = plan.map(({ detail }) => String(detail)).filter((detail) => /^(?:SCAN|SEARCH) one\b/.test(detail))
    assert.lengthOf(reads, 1)
    assert.include(reads[0], "USING INDEX inbox_ready")
  })
})
