/** The event logs of the stores keep the laws. */
import * as PostgresStore from "@belay/providers/PostgresStore"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as EventLogLaws from "@belay/testing/EventLogLaws"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, it } from "vitest"
import { type PostgresServer, startPostgres } from "../../../../test/support/postgres.ts"
import { newSchema } from "../support/postgresStore.ts"

describe("the event log of a SQLite store", () => {
  const onFile = async (): Promise<EventLogLaws.Subject> => {
    const folder = mkdtempSync(join(tmpdir(), "belay-events-"))
    const open: Array<SqliteStore.SqliteStore> = []
    const another = () => {
      open.push(SqliteStore.make({ path: join(folder, "store.db") }))
      return open.at(-1)!.events
    }
    const dispose = () => {
      for (const store of open) store.close()
      rmSync(folder, { recursive: true, force: true })
    }
    return { log: another(), reopen: another, dispose }
  }
  for (const { name, run } of EventLogLaws.cases(onFile)) it(name, run)
})

describe("the event log of a Postgres store", () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.dispose())
  const onServer = async (): Promise<EventLogLaws.Subject> => {
    const schema = newSchema()
    const open: Array<PostgresStore.PostgresStore> = []
    const another = () => {
      open.push(PostgresStore.make({ url: server.url, schema, maxConnections: 4 }))
      return open.at(-1)!.events
    }
    return {
      log: another(),
      reopen: another,
      dispose: async () => {
        for (const store of open) await store.close()
      }
    }
  }
  for (const { name, run } of EventLogLaws.cases(onServer)) it(name, run)
})
