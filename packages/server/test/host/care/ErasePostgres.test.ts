/** What is left of a person in Postgres after they were erased. */
import * as PostgresStore from "@belay/providers/PostgresStore"
import * as Effect from "effect/Effect"
import pg from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type PostgresServer, startPostgres } from "../../../../../test/support/postgres.ts"
import { checkFrozen, checkRemoved, live, person, ruleOfAll } from "../support/person.ts"

describe("erasing a person from Postgres", () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.dispose())

  it("stores nothing of an erased session that a frozen process still has", async () => {
    const store = PostgresStore.make({ url: server.url, schema: "frozen" })
    await checkFrozen(store)
    await store.close()
  })

  it("finds their sessions, although what they have sent was removed before", async () => {
    const store = PostgresStore.make({ url: server.url, schema: "removed" })
    await checkRemoved(store)
    await store.close()
  })

  it("takes what others are writing at the same time", async () => {
    const store = PostgresStore.make({ url: server.url, schema: "meanwhile" })
    const run = Effect.runPromise
    const other = new pg.Client({ connectionString: server.url })
    await other.connect()
    const others = async (...texts: ReadonlyArray<string>) => {
      for (const text of texts) await other.query(text)
    }
    const write = () =>
      run(store.events.write([{ sessionId: "eve", rows: [{ first: 1, last: 1, body: person }] }], { keepMs: 0 }))
    const rows = async () => (await run(store.events.read("eve", { after: 0, limit: 9 }))).rows.length
    const first = (done: Promise<unknown>) =>
      Promise.race([done.then(() => "done"), run(Effect.as(Effect.sleep(200), "waits"))])
    await write()
    assert.strictEqual(await rows(), 1)
    await run(store.sessions.remove("eve"))

    // Another process has written, and has not committed yet.
    await others(
      "BEGIN",
      "INSERT INTO meanwhile.event_logs VALUES ('eve', 0, 1, 1)",
      `INSERT INTO meanwhile.events VALUES ('eve', 1, 1, '"${person}"', 1)`
    )
    const erased = run(store.erasure.erase(["eve"], []))
    assert.strictEqual(await first(erased), "waits")
    await others("COMMIT")
    assert.strictEqual((await erased).events, 1)
    assert.strictEqual(await rows(), 0)

    // Another process erases, and has not committed yet.
    await others(
      "ALTER TABLE meanwhile.erased RENAME TO known",
      "CREATE TABLE meanwhile.erased (hash text PRIMARY KEY)",
      "BEGIN",
      "LOCK TABLE meanwhile.artifacts, meanwhile.event_logs IN SHARE ROW EXCLUSIVE MODE",
      "INSERT INTO meanwhile.erased SELECT hash FROM meanwhile.known"
    )
    const written = write()
    assert.strictEqual(await first(written), "waits")
    await others("COMMIT")
    await written
    assert.strictEqual(await rows(), 0)
    assert.strictEqual((await other.query("SELECT 1 FROM meanwhile.event_logs")).rowCount, 0)
    await other.end()
    await store.close()
  })

  it("leaves no row with them in any table", async () => {
    const store = PostgresStore.make({ url: server.url, schema: "erased" })
    const { agent, host, running } = await live(store)
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    const rows = async () => {
      const { rows: tables } = await client.query("SELECT tablename FROM pg_tables WHERE schemaname = 'erased'")
      const found: Array<string> = []
      for (const { tablename } of tables) {
        const sql = `SELECT count(*)::int AS n FROM erased.${tablename} AS one WHERE one::text LIKE '%${person}%'`
        if ((await client.query(sql)).rows[0].n > 0) found.push(tablename)
      }
      return found
    }
    assert.isAbove((await rows()).length, 5)
    const receipt = await host.erase({ principal: person })
    assert.deepEqual(await rows(), [])
    assert.deepEqual(receipt.sessions, ["ada", "ada2", "ada3"])
    assert.deepEqual((await host.list()).map(({ id }) => id), ["bob"])
    assert.strictEqual(receipt.approvals, 2)
    assert.deepEqual(await Effect.runPromise(store.rules.load), [ruleOfAll])
    await client.end()
    await running.drain()
    await agent.close()
    await store.close()
  })
})
