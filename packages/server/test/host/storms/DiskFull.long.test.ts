/** A disk that is full for ten seconds. */
import { afterAll, beforeAll, describe, it } from "vitest"
import { type PostgresServer, startPostgres } from "../../../../../test/support/postgres.ts"
import { fullDisk, postgresDisk } from "../support/fullDisk.ts"

describe("a host whose disk is full", () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.dispose())

  it("for ten seconds goes on afterwards, and nothing happens twice", () => fullDisk(10_000, 40))

  it.each(["local", "cluster", "pg-boss"] as const)(
    "on Postgres for ten seconds goes on afterwards, with the engine %s",
    async (engine) => fullDisk(10_000, 8, await postgresDisk(server, engine))
  )
})
