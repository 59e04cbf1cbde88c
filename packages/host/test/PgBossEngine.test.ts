/** The engine on pg-boss keeps the laws of engines. */
import { inMemory } from "@belay/core/Inbox"
import * as PgBossEngine from "@belay/host/PgBossEngine"
import * as EngineLaws from "@belay/testing/EngineLaws"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type PostgresServer, startPostgres } from "../../../test/support/postgres.ts"

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.dispose())

describe("the pg-boss engine", () => {
  let count = 0
  const make = async (): Promise<EngineLaws.Subject> => {
    const options = { url: server.url, schema: `law${++count}` }
    return { inbox: inMemory(), engine: PgBossEngine.make(options), peer: PgBossEngine.make(options) }
  }
  for (const { name, run } of EngineLaws.cases(make, { hasPeers: true })) it(name, run)

  it("refuses wrong options, and says which", () => {
    assert.throws(() => PgBossEngine.make({ url: "http://here" }), /pg-boss-engine.url/)
  })
})
