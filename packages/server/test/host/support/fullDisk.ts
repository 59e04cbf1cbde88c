/** Sessions whose disk is full for a while. Their process goes on running. */
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import { text, whyInvalid } from "@belay/core/Message"
import type * as PostgresStore from "@belay/providers/PostgresStore"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Host from "@belay/server/Host"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import { DatabaseSync } from "node:sqlite"
import pg from "pg"
import { assert } from "vitest"
import type { PostgresServer } from "../../../../../test/support/postgres.ts"
import { failure, gate, newFile, planner, pollMs } from "./hosted.ts"
import { type EngineName, openEngine, openStore } from "./openStore.ts"

/** A store whose disk can be filled. */
interface Disk extends Pick<Host.Options, "engine"> {
  readonly store: SqliteStore.SqliteStore | PostgresStore.PostgresStore
  readonly fill: () => unknown
  readonly free: () => unknown
}

/** Opens a store whose file cannot grow while its disk is full. */
export const sqliteDisk = (): Disk => {
  const opened = new Set<DatabaseSync>()
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its database
  const { exec } = DatabaseSync.prototype
  DatabaseSync.prototype.exec = function(...args) {
    opened.add(this)
    return exec.apply(this, args)
  }
  try {
    const store = SqliteStore.make({ path: newFile() })
    // The number cannot be less than what the file has.
    const setPages = (pages: number) => {
      for (const one of opened) if (one.isOpen) one.exec(`PRAGMA max_page_count = ${pages}`)
    }
    return { store, fill: () => setPages(1), free: () => setPages(1_000_000) }
  } finally {
    DatabaseSync.prototype.exec = exec
  }
}

/** What a server says that cannot write. */
const refusal = `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$`

/** Opens a store and an engine on a server that refuses to write while its disk is full. */
export const postgresDisk = async (server: PostgresServer, name: EngineName): Promise<Disk> => {
  const where = `${server.url}#full_${name.replace("-", "")}`
  const admin = new pg.Client({ connectionString: server.url })
  await admin.connect()
  await admin.query(`DROP FUNCTION IF EXISTS refuse CASCADE; ${refusal}`)
  const onAll = async (change: (table: string) => string) => {
    const { rows } = await admin.query<{ readonly name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname ~ '^full_'
        OR tablename ~ '^full_'`
    )
    await admin.query(rows.map(({ name }) => change(name)).join(";"))
  }
  return {
    store: openStore(where, "2 seconds"),
    ...openEngine(where, name),
    fill: () =>
      onAll((table) =>
        `CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION refuse()`
      ),
    free: async () => {
      await onAll((table) => `DROP TRIGGER IF EXISTS refuse ON ${table}`)
      await admin.end()
    }
  }
}

/** More than what fits into pages that are not used. */
const large = "x".repeat(200_000)

/** Fills the disk for `fullMs` while `sessions` turns run a tool. */
export const fullDisk = async (
  fullMs: number,
  sessions: number,
  { fill, free, store, ...engine }: Disk = sqliteDisk()
): Promise<void> => {
  const [begun, go] = [gate(), gate()]
  const calls: Array<string> = []
  const work = defineTool({
    name: "work",
    description: "Works",
    input: { type: "object" },
    execute: async (_, { idempotencyKey }) => {
      calls.push(String(idempotencyKey))
      if (calls.length === sessions) begun.open()
      await go.opened
      return large
    }
  })
  const agent = createAgent({ provider: planner(), store: store.sessions, tools: [work], log: false })
  const host = Host.make({ agent, store, pollMs, ...engine })
  // It logs what it tries again.
  const running = await Effect.runPromise(Effect.provideService(host.start(), References.MinimumLogLevel, "None"))
  const ids = Array.from({ length: sessions }, (_, index) => `s${index}`)
  for (const id of ids) {
    await host.send(id, "do work", { key: "runs" })
    await host.send(id, "next", { key: "next" })
  }
  await begun.opened

  await fill()
  const error = await failure(host.send("late", large, { key: "late" }))
  assert.deepInclude(error, { _tag: "HostError", problem: "store" })
  assert.match(
    String(error["message"]),
    /no space (?:is left on the disk|or memory left|left on device).+Try again with the same key/
  )
  go.open()
  await Effect.runPromise(Effect.sleep(fullMs))
  await free()

  await host.send("late", large, { key: "late" })
  assert.deepInclude(await host.result("late", "late"), { status: "completed" })
  for (const id of ids) {
    assert.deepInclude(await host.result(id, "runs"), { status: "completed", text: "did work" })
    assert.deepInclude(await host.result(id, "next"), { status: "completed", text: "re: next" })
    const { messages } = (await Effect.runPromise(store.sessions.load(id)))!
    assert.isUndefined(whyInvalid(messages))
    const [result] = messages.filter(({ role }) => role === "tool").map(text)
    assert.isTrue(result === large || result?.includes("unknown"), result?.slice(0, 200))
  }
  assert.lengthOf(new Set(calls), sessions)
  assert.lengthOf(calls, sessions)
  await running.drain()
  await agent.close()
  await store.close()
}
