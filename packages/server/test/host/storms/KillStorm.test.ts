/** Processes that run sessions and are killed at any moment. */
import { random } from "@belay/testing/SeededRandom"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type PostgresServer, startPostgres } from "../../../../../test/support/postgres.ts"
import { newFile } from "../support/hosted.ts"
import { killStorm } from "../support/killStorm.ts"

/** A busy machine starts processes slowly. */
const timeout = 600_000

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.dispose())

describe("a host whose processes are killed", () => {
  it("answers each message once and in order, and begins no call twice", { timeout }, async () => {
    const { below } = random(7)
    const where = newFile()
    const kills = Array.from({ length: 8 }, (_, index) => index % 3 === 0 ? "report" : 3 + below(120))
    const log = `${where}.log`
    const report = await killStorm({
      where,
      engine: "local",
      // One runs, and one waits until it is killed.
      runners: 2,
      log,
      seed: 7,
      sessions: 4,
      messages: 4,
      kills
    })
    assert.isAbove(report.killed, 4)
  })

  it.each(["cluster", "pg-boss"] as const)(
    "does the same with two processes and the engine %s",
    { timeout },
    async (engine) => {
      const { below } = random(8)
      const where = `${server.url}#${engine.replace("-", "")}`
      // Early moments, because a process that starts late on a busy machine gets little of the work.
      const kills = ["report" as const, 10 + below(30), 10 + below(30)]
      const log = `${newFile()}.log`
      const report = await killStorm({ where, engine, runners: 2, log, seed: 8, sessions: 4, messages: 6, kills })
      // The one that starts last may find nothing left to do.
      assert.isAtLeast(report.killed, 2)
    }
  )
})
