/** The engine on effect/cluster keeps the laws of engines. */
import { inMemory } from "@belay/core/Inbox"
import * as ClusterEngine from "@belay/host/ClusterEngine"
import * as EngineLaws from "@belay/testing/EngineLaws"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type PostgresServer, startPostgres } from "../../../test/support/postgres.ts"
import { pollMs } from "./support/hosted.ts"

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
  for (const { name, run } of EngineLaws.cases(make, { hasPeers: true })) it(name, run)

  it("refuses wrong options, and says which", () => {
    assert.throws(() => ClusterEngine.make({ url: "http://here" }), /cluster-engine.url/)
  })
})
