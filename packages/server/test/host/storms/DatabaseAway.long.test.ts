/** A database that is away for a minute, under each engine. */
import { afterAll, beforeAll, describe, it } from "vitest"
import { type PostgresServer, startPostgres } from "../../../../../test/support/postgres.ts"
import { outage } from "../support/outage.ts"

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.dispose())

describe("a host whose database is away", () => {
  it(
    "for longer than its store is patient goes on afterwards, and nothing happens twice",
    { timeout: 300_000 },
    () => outage(server, 60_000, 5)
  )
})
