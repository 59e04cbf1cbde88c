/** A database that is away for some seconds, under each engine. */
import { afterAll, beforeAll, describe, it } from "vitest"
import { type PostgresServer, startPostgres } from "../../../../../test/support/postgres.ts"
import { outage } from "../support/outage.ts"

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.dispose())

describe("a host whose database is away", () => {
  it("says so to those who send, and goes on afterwards as if nothing had happened", () => outage(server, 4_000, 2))
})
