/** The engine on effect/cluster. */
import { inMemory } from "@belay/core/Inbox"
import * as ClusterEngine from "@belay/server/ClusterEngine"
import * as EngineLaws from "@belay/testing/EngineLaws"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import pg from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type PostgresServer, startPostgres } from "../../../../test/support/postgres.ts"
import { failure, pollMs } from "./support/hosted.ts"
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

describe("the cluster engine", () => {
  let count = 0
  const make = async (): Promise<EngineLaws.Subject> => {
    const options = { url: server.url, prefix: `law${++count}`, pollMs }
    return { inbox: inMemory(), engine: ClusterEngine.make(options), peer: ClusterEngine.make(options) }
  }
  for (const { name, run: prove } of EngineLaws.cases(make, { hasPeers: true })) it(name, prove)

  it("keeps no request that was answered, and one for a time that was asked for often", async () => {
    const engine = ClusterEngine.make({ url: server.url, prefix: "kept", pollMs })
    const at = Date.now() + 3_600_000
    for (let index = 0; index < 5; index++) await run(engine.wake("later", at))
    await Promise.all(Array.from({ length: 20 }, (_, index) => run(engine.wake(`s${index % 7}`))))
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    const rows = async (): Promise<ReadonlyArray<unknown>> =>
      (await client.query("SELECT entity_id, deliver_at FROM kept_messages ORDER BY rowid")).rows
    const later = { entity_id: "later", deliver_at: String(at) }
    assert.deepStrictEqual((await rows())[0], later)
    assert.lengthOf(await rows(), 21)
    const scope = await run(Scope.make())
    await run(Scope.provide(engine.start(() => Effect.void), scope))
    while ((await rows()).length > 1) await run(Effect.sleep(20))
    assert.deepStrictEqual(await rows(), [later])
    assert.deepStrictEqual((await client.query("SELECT * FROM kept_replies")).rows, [])
    await run(Scope.close(scope, Exit.void))
    await client.end()
  })

  it("delivers a request that another process has read and never answered", async () => {
    const engine = ClusterEngine.make({ url: server.url, prefix: "claimed", pollMs })
    const seen = new Set<string>()
    const scope = await run(Scope.make())
    await run(Scope.provide(engine.start((id) => Effect.sync(() => void seen.add(id))), scope))
    await run(engine.wake("first"))
    await run(engine.wake("claimed", Date.now() + 3_600_000))
    while (!seen.has("first")) await run(Effect.sleep(pollMs))
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    await client.query("UPDATE claimed_messages SET deliver_at = 0, last_read = NOW() WHERE entity_id = 'claimed'")
    while (!seen.has("claimed")) await run(Effect.sleep(pollMs))
    await client.end()
    await run(Scope.close(scope, Exit.void))
  })

  it("advances a session that was woken before its next look into the mailbox", async () => {
    const engine = ClusterEngine.make({ url: server.url, prefix: "noticed", pollMs: 3_600_000 })
    const seen = new Set<string>()
    const scope = await run(Scope.make())
    await run(Scope.provide(engine.start((id) => Effect.sync(() => void seen.add(id))), scope))
    // At first, the process may not listen yet.
    for (const id of ["a", "b", "c", "d"]) {
      while (!seen.has(id)) {
        await run(engine.wake(id))
        await run(Effect.sleep(pollMs))
      }
    }
    await run(Scope.close(scope, Exit.void))
  })

  it("encrypts its connection if it has to, which this server cannot", async () => {
    const engine = ClusterEngine.make({ url: server.url, prefix: "tls", ssl: true })
    assert.match(await reason(engine.wake("s")), /^the wake-up of session s was not stored: .*TLS/)
  })

  it("fails if its server cannot be reached", async () => {
    const engine = ClusterEngine.make({ url: "postgres://belay@127.0.0.1:1/none" })
    assert.match(await reason(engine.wake("s")), /^the wake-up of session s was not stored: connect ECONNREFUSED/)
    assert.match(await reason(Effect.scoped(engine.start(() => Effect.void))), /^connect ECONNREFUSED/)
  })

  it("names the package that is missing", () => {
    const program = `import * as ClusterEngine from "@belay/server/ClusterEngine"
      import * as Effect from "effect/Effect"
      const engine = ClusterEngine.make({ url: "postgres://belay@127.0.0.1:1/none" })
      console.log((await Effect.runPromise(Effect.flip(engine.wake("s")))).message)`
    const missing =
      "the wake-up of session s was not stored: the engine needs packages that are not installed: npm install @effect/sql-pg"
    assert.strictEqual(withoutPackages(["@effect/sql-pg"], program), missing)
  })

  it.each([
    ["url", { url: "http://here" }],
    ["url", {} as never],
    ["prefix", { url: "postgres://here", prefix: "a b" }],
    ["maxConnections", { url: "postgres://here", maxConnections: 1 }],
    ["concurrency", { url: "postgres://here", concurrency: 0 }],
    ["pollMs", { url: "postgres://here", pollMs: 0 }],
    ["prefx", { url: "postgres://here", prefx: "a" } as never]
  ])("refuses a wrong %s", (option, options) => {
    const make = () => ClusterEngine.make(options)
    assert.throws(make, new RegExp(`cluster-engine.*${option}`))
  })
})
