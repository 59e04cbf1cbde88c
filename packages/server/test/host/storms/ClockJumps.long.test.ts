/** Processes whose clocks jump by an hour, forward and back, while some of them are killed. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type PostgresServer, startPostgres } from "../../../../../test/support/postgres.ts"
import { newFile } from "../support/hosted.ts"
import { killStorm } from "../support/killStorm.ts"

const hour = 3_600_000

describe("a host whose clocks jump by an hour", () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.dispose())

  it.each(
    [
      ["local", 1, hour],
      ["local", 1, -hour],
      ["cluster", 2, hour],
      ["cluster", 2, -hour],
      ["pg-boss", 2, hour],
      ["pg-boss", 2, -hour]
    ] as const
  )("answers each message once with the engine %s, %i processes and a jump of %i ms", { timeout: 300_000 }, async (
    engine,
    runners,
    jumpMs
  ) => {
    const where = engine === "local"
      ? newFile()
      : `${server.url}#jump_${engine.replace("-", "")}_${jumpMs > 0 ? "ahead" : "behind"}`
    const report = await killStorm({
      where,
      engine,
      runners,
      log: `${newFile()}.log`,
      seed: 31,
      sessions: 6,
      messages: 6,
      kills: [60, 200, "report"],
      // Those that start later are right again after a while.
      clockJumps: `1500:${jumpMs},6000:0`
    })
    assert.isAbove(report.killed, 0)
  })
})
