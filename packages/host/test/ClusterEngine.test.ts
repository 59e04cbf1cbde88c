/** The engine on effect/cluster. */
import { messageOf } from "@belay/core/ErrorMessage"
import { inMemory } from "@belay/core/Inbox"
import * as ClusterEngine from "@belay/host/ClusterEngine"
import * as EngineLaws from "@belay/testing/EngineLaws"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import pg from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type PostgresServer, startPostgres } from "../../../test/support/postgres.ts"
import { failure, pollMs } from "./support/hosted.ts"
import { withoutPackages } from "./support/withoutPackages.ts"

const run = Effect.runPromise

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

  it("fails if its server cannot be reached", async () => {
    const engine = ClusterEngine.make({ url: "postgres://belay@127.0.0.1:1/none" })
    for (const act of [engine.wake("s"), Effect.scoped(engine.start(() => Effect.void))]) {
      assert.match(messageOf(await failure(run(act))), /ECONNREFUSED|connect|SqlError/i)
    }
  })

  it("names the package that is missing", () => {
    const program = `import * as ClusterEngine from "@belay/host/ClusterEngine"
      import * as Effect from "effect/Effect"
      const engine = ClusterEngine.make({ url: "postgres://belay@127.0.0.1:1/none" })
      console.log((await Effect.runPromise(Effect.flip(engine.wake("s")))).message)`
    const missing = "the engine needs packages that are not installed: npm install @effect/sql-pg"
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
