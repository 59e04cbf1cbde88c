/** Many processes that run sessions and are killed, frozen and cut off from their database at any moment. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type PostgresServer, startPostgres } from "../../../../../test/support/postgres.ts"
import { largeStorm } from "../support/largeStorm.ts"

describe("a host in a storm", () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.dispose())

  it.each(
    [
      ["local", 10, 1],
      ["cluster", 20, 3],
      ["pg-boss", 20, 3]
    ] as const
  )(
    "answers each message once with the engine %s, with frozen processes and a database that is restarted",
    { timeout: 300_000 },
    async (engine, sessions, runners) => {
      const kills = 10
      const report = await largeStorm(server, { engine, runners, sessions, messages: 8, kills, seed: 21 })
      // The last processes may finish before they would be killed.
      assert.isAbove(report.killed, kills / 2)
      assert.isAbove(report.frozen, 0)
    }
  )
})
