/** The Postgres store, on a real server: the laws, several machines, a server that goes away, migrations, poolers, TLS. */
import * as PostgresStore from "@belay/providers/PostgresStore"
import * as StoreLaws from "@belay/testing/StoreLaws"
import { afterAll, beforeAll, describe, it } from "vitest"
import { type PostgresServer, startPostgres } from "../../../../test/support/postgres.ts"

let server: PostgresServer
let schemas = 0
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.dispose())

const subject = async (): Promise<StoreLaws.Subject> => {
  const schema = `s${++schemas}`
  const open: Array<PostgresStore.PostgresStore> = []
  const another = () => {
    open.push(PostgresStore.make({ url: server.url, schema, maxConnections: 4 }))
    return open.at(-1)!.sessions
  }
  return {
    store: another(),
    reopen: another,
    dispose: async () => {
      for (const store of open) await store.close()
    }
  }
}

describe("PostgresStore", () => {
  for (const { name, run } of StoreLaws.cases(subject)) it(name, run)
})
