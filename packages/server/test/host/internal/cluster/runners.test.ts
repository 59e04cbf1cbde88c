/** Runners of the cluster engine whose processes have ended. */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import pg from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type PostgresServer, startPostgres } from "../../../../../../test/support/postgres.ts"
import { watchRunners } from "../../../../src/host/internal/cluster/runners.ts"
import { nameOfConnection } from "../../../../src/host/internal/cluster/settings.ts"

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.dispose())

const connected = async (name: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: server.url, application_name: name })
  await client.connect()
  return client
}

describe("a runner", () => {
  it("has ended when its connection is gone, runs again with another, and is left alone if it never had one", async () => {
    const test = await connected("test")
    await test.query("CREATE TABLE w_runners (address text, healthy boolean)")
    await test.query("INSERT INTO w_runners VALUES ('seen', true), ('never', true), ('gone', false)")
    /** Waits until the runners are as expected, by address. */
    const until = async (expected: string): Promise<void> => {
      for (;;) {
        const { rows } = await test.query("SELECT address || ' ' || healthy AS one FROM w_runners ORDER BY address")
        if (rows.map(({ one }) => one).join(", ") === expected) return
      }
    }
    const first = await connected(nameOfConnection("w", "seen"))
    const again = await connected(nameOfConnection("w", "gone"))
    const watching = Effect.runFork(
      Effect.provide(watchRunners("w"), PgClient.layer({ url: Redacted.make(server.url), applicationName: "watch" }))
    )
    await until("gone true, never true, seen true")
    await first.end()
    await until("gone true, never true, seen false")
    const second = await connected(nameOfConnection("w", "seen"))
    await until("gone true, never true, seen true")
    // Whoever left the table is not looked for, and comes back as new.
    await test.query("DELETE FROM w_runners WHERE address = 'gone'")
    await again.end()
    await second.end()
    await until("never true, seen false")
    await Effect.runPromise(Fiber.interrupt(watching))
    await test.end()
  })

  it("is called by its prefix and its address, in at most the 63 characters that the server keeps", () => {
    assert.strictEqual(nameOfConnection("w", "a:1"), "w a:1")
    assert.strictEqual(nameOfConnection("w", "a".repeat(100)), `w ${"a".repeat(61)}`)
  })
})
