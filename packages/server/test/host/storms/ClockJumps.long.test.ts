/** Processes whose clocks jump by an hour, forward and back, while some of them are killed. */
import * as Host from "@belay/server/Host"
import { spawn } from "node:child_process"
import { once } from "node:events"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, expect, it } from "vitest"
import { type PostgresServer, startPostgres } from "../../../../../test/support/postgres.ts"
import { newFile } from "../support/hosted.ts"
import { killStorm } from "../support/killStorm.ts"
import { openHost } from "../support/openStore.ts"

const hour = 3_600_000

const file = (name: string): string => new URL(`../support/${name}.ts`, import.meta.url).href

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

  it.each(
    [
      ["cluster", hour],
      ["cluster", -hour],
      ["pg-boss", hour],
      ["pg-boss", -hour]
    ] as const
  )(
    "delivers a message when it is due with the engine %s and a clock that is wrong by %i ms",
    async (engine, aheadMs) => {
      const where = `${server.url}#wrong_${engine.replace("-", "")}_${aheadMs > 0 ? "ahead" : "behind"}`
      const { store, ...rest } = openHost(where, engine)
      const host = Host.make({ agent: { session: () => Promise.reject(new Error("it only sends")) }, store, ...rest })
      const due = Date.now() + 3_000
      await host.send("s", "do work", { key: "k", at: due })
      const program = ["--conditions=@belay/source", "--import", file("jumpingClock"), fileURLToPath(file("worker"))]
      const child = spawn(process.execPath, [...program, where, engine, `${newFile()}.log`, "0"], {
        stdio: "ignore",
        env: { ...process.env, CLOCK_JUMPS: `0:${aheadMs}` }
      })
      try {
        await expect.poll(() => host.status("s", "k"), { timeout: 60_000, interval: 50 }).toMatchObject({
          status: "done"
        })
      } finally {
        child.kill("SIGKILL")
        await once(child, "close")
      }
      assert.isAtLeast(Date.now(), due)
    }
  )
})
