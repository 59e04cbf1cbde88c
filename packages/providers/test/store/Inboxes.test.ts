/** The inboxes of the stores keep the laws. */
import * as PostgresStore from "@belay/providers/PostgresStore"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as InboxLaws from "@belay/testing/InboxLaws"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, it } from "vitest"
import { type PostgresServer, startPostgres } from "../../../../test/support/postgres.ts"
import { newSchema } from "../support/postgresStore.ts"

describe("the inbox of a SQLite store", () => {
  const onFile = async (): Promise<InboxLaws.Subject> => {
    const folder = mkdtempSync(join(tmpdir(), "belay-inbox-"))
    const open: Array<SqliteStore.SqliteStore> = []
    const another = () => {
      open.push(SqliteStore.make({ path: join(folder, "store.db") }))
      return open.at(-1)!.inbox
    }
    const dispose = () => {
      for (const store of open) store.close()
      rmSync(folder, { recursive: true, force: true })
    }
    return { inbox: another(), reopen: another, dispose }
  }
  for (const { name, run } of InboxLaws.cases(onFile)) it(name, run)
})

describe("the inbox of a Postgres store", () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.dispose())
  const onServer = async (): Promise<InboxLaws.Subject> => {
    const schema = newSchema()
    const open: Array<PostgresStore.PostgresStore> = []
    const another = () => {
      open.push(PostgresStore.make({ url: server.url, schema, maxConnections: 4 }))
      return open.at(-1)!.inbox
    }
    return {
      inbox: another(),
      reopen: another,
      dispose: async () => {
        for (const store of open) await store.close()
      }
    }
  }
  for (const { name, run } of InboxLaws.cases(onServer)) it(name, run)
})
