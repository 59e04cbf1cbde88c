/** Processes that run sessions and are killed many times. */
import { random } from "@belay/testing/SeededRandom"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type PostgresServer, startPostgres } from "../../../../../test/support/postgres.ts"
import { newFile } from "../support/hosted.ts"
import { killStorm } from "../support/killStorm.ts"

const storm = async (where: string, log: string, seed: number): Promise<void> => {
  const { below } = random(seed)
  const kills = Array.from({ length: 25 }, (_, index) => index % 4 === 0 ? "report" : 1 + below(90))
  const report = await killStorm({ where, engine: "local", runners: 1, log, seed, sessions: 3, messages: 6, kills })
  assert.isAbove(report.killed, 10)
}

describe("a host whose processes are killed many times", () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.dispose())

  it.each([1, 2, 3, 4])(
    "answers each message once, on SQLite with seed %i",
    { timeout: 300_000 },
    (seed) => {
      const where = newFile()
      return storm(where, `${where}.log`, seed)
    }
  )

  it.each([11, 12])(
    "answers each message once, on Postgres with seed %i",
    { timeout: 300_000 },
    (seed) => storm(`${server.url}#storm_${seed}`, `${newFile()}.log`, seed)
  )
})
