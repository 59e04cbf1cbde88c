/** The engine on pg-boss. */
import { inMemory } from "@belay/core/Inbox"
import * as PgBossEngine from "@belay/server/PgBossEngine"
import * as EngineLaws from "@belay/testing/EngineLaws"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import pg from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type PostgresServer, startPostgres } from "../../../../test/support/postgres.ts"
import { failure } from "./support/hosted.ts"
import { withoutPackages } from "./support/withoutPackages.ts"

const run = Effect.runPromise

/** The message of an Effect's error. */
const reason = async (act: Effect.Effect<void, unknown>): Promise<string> =>
  String((await failure(run(act)))["message"])

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
  for (const { name, run: prove } of EngineLaws.cases(make, { hasPeers: true })) it(name, prove)

  const onPool = async (): Promise<EngineLaws.Subject> => {
    const pool = new pg.Pool({ connectionString: server.url })
    // The server ends before its connections.
    pool.on("error", () => {})
    return { inbox: inMemory(), engine: PgBossEngine.make({ pool, schema: `law${++count}` }) }
  }
  for (const { name, run: prove } of EngineLaws.cases(onPool).slice(0, 4)) it(`on a pool: ${name}`, prove)

  it("keeps one job for a session that was woken often, and one for each time", async () => {
    const engine = PgBossEngine.make({ url: server.url, schema: "kept" })
    const [soon, late] = [Date.now() + 3_600_000, Date.now() + 7_200_000]
    for (const at of [undefined, soon, late, undefined, soon, late, undefined]) await run(engine.wake("s", at))
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    const { rows } = await client.query("SELECT * FROM kept.job WHERE name = 'belay' ORDER BY created_on")
    assert.deepStrictEqual(rows.map((row) => row.singleton_key), ["s", `s@${soon}`, `s@${late}`])
    assert.deepStrictEqual(rows.map((row) => [row.data, row.heartbeat_seconds]), [
      [{ sessionId: "s", isLater: false, failures: 0 }, 4],
      [{ sessionId: "s", isLater: true, failures: 0 }, 4],
      [{ sessionId: "s", isLater: true, failures: 0 }, 4]
    ])
    assert.deepStrictEqual(rows.slice(1).map((row) => row.start_after.getTime()), [soon, late])
    const { rows: [queue] } = await client.query("SELECT * FROM kept.queue WHERE name = 'belay'")
    assert.deepInclude(queue, {
      policy: "stately",
      retry_limit: 2 ** 31 - 1,
      retry_delay: 0,
      expire_seconds: 86_400,
      retention_seconds: 50 * 365 * 86_400,
      deletion_seconds: 60,
      dead_letter: null
    })
    await client.end()
  })

  it("encrypts its connection if it has to, which this server cannot", async () => {
    const engine = PgBossEngine.make({ url: server.url, schema: "tls", ssl: true })
    assert.match(await reason(engine.wake("s")), /^the wake-up of session s was not stored: .*SSL/)
  })

  it("counts the calls that failed in a row, and waits longer after each", async () => {
    const engine = PgBossEngine.make({ url: server.url, schema: "counted", maxConnections: 3 })
    const failed: Array<number> = []
    await run(Effect.scoped(Effect.gen(function*() {
      let finish = (): void => {}
      const finished = new Promise<void>((resolve) => finish = resolve)
      yield* engine.start(() =>
        Effect.suspend(() => {
          if (failed.push(Date.now()) <= 2) return Effect.fail("not yet")
          finish()
          return Effect.void
        })
      )
      yield* engine.wake("s")
      yield* Effect.promise(() => finished)
    })))
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    const { rows } = await client.query(
      "SELECT singleton_key AS key, data, extract(epoch FROM start_after) * 1000 AS start " +
        "FROM counted.job WHERE name = 'belay' ORDER BY created_on"
    )
    await client.end()
    const job = (key: string, isLater: boolean, failures: number) => ({
      key,
      data: { sessionId: "s", isLater, failures }
    })
    assert.deepStrictEqual(rows.map(({ data, key }) => ({ data, key })), [
      job("s", false, 0),
      job("s@again", true, 1),
      job("s", false, 1),
      job("s@again", true, 2),
      job("s", false, 2)
    ])
    // At least half of 250 and of 500 milliseconds.
    assert.isAtLeast(Number(rows[1].start), failed[0]! + 125)
    assert.isAtLeast(Number(rows[3].start), failed[1]! + 250)
  })

  it("fails if its server cannot be reached", async () => {
    const engine = PgBossEngine.make({ url: "postgres://belay@127.0.0.1:1/none" })
    assert.match(await reason(engine.wake("s")), /^the wake-up of session s was not stored: connect ECONNREFUSED/)
    assert.match(await reason(Effect.scoped(engine.start(() => Effect.void))), /^connect ECONNREFUSED/)
  })

  it("logs an error once, not for each worker, while the server is away", async () => {
    const pool = new pg.Pool({ connectionString: server.url })
    // The test may fail, and the server end before its connections.
    pool.on("error", () => {})
    let isAway = false
    let refused = 0
    const query = async (text: string, values?: Array<unknown>) => {
      if (!isAway) return pool.query(text, values)
      refused++
      throw new Error("the server is away")
    }
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => void lines.push(String(message)))
    const engine = PgBossEngine.make({ pool: { query }, schema: "away", concurrency: 8 })
    const running = Effect.gen(function*() {
      yield* engine.start(() => Effect.void)
      isAway = true
      yield* Effect.promise(async () => {
        while (refused < 20) await new Promise((resolve) => setTimeout(resolve, 10))
      })
      isAway = false
    })
    await run(Effect.scoped(running).pipe(Effect.provide(Logger.layer([logger]))))
    assert.deepStrictEqual(lines.filter((line) => line.includes("away")), ["pg-boss: the server is away"])
    await pool.end()
  })

  it("names the package that is missing", () => {
    const program = `import * as PgBossEngine from "@belay/server/PgBossEngine"
      import * as Effect from "effect/Effect"
      const engine = PgBossEngine.make({ url: "postgres://belay@127.0.0.1:1/none" })
      console.log((await Effect.runPromise(Effect.flip(engine.wake("s")))).message)`
    const missing =
      "the wake-up of session s was not stored: the engine needs packages that are not installed: npm install pg-boss"
    assert.strictEqual(withoutPackages(["pg-boss"], program), missing)
  })

  it.each([
    ["url", {}],
    ["url", { url: "http://here" }],
    ["pool", { pool: {} as never }],
    ["pool", { url: "postgres://here", pool: { query: async () => ({ rows: [] }) } }],
    ["schema", { url: "postgres://here", schema: "a;b" }],
    ["queue", { url: "postgres://here", queue: "" }],
    ["maxConnections", { url: "postgres://here", maxConnections: 1 }],
    ["concurrency", { url: "postgres://here", concurrency: 0 }]
  ])("refuses a wrong %s", (option, options) => {
    const make = () => PgBossEngine.make(options)
    assert.throws(make, new RegExp(`pg-boss-engine.*${option}`))
  })
})
