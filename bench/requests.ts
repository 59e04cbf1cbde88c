/**
 * What a request costs that is one turn without tools, after how many others: of a server whose host is in memory, and
 * of one with a host on SQLite. The requests do not go over a socket. The model answers at once.
 */
import { createAgent } from "@belay/core"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Host from "@belay/server/Host"
import * as OpenAiChat from "@belay/server/OpenAiChat"
import * as Serve from "@belay/server/Serve"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { answersAtOnce as provider } from "./answersAtOnce.ts"

const milliseconds = ({ system, user }: NodeJS.CpuUsage): number => (system + user) / 1_000

/** Sends requests, 16 at once, and returns the CPU of one in milliseconds. */
const cost = async (handle: Serve.Handler, count: number): Promise<number> => {
  const body = JSON.stringify({ model: "agent", messages: [{ role: "user", content: "How is it?" }] })
  let left = count
  const run = async () => {
    while (left-- > 0) {
      const headers = { "content-type": "application/json" }
      const answer = await handle(
        new Request("http://127.0.0.1/v1/chat/completions", { method: "POST", headers, body })
      )
      if (answer.status !== 200) throw new Error(await answer.text())
      await answer.arrayBuffer()
    }
  }
  const before = process.cpuUsage()
  await Promise.all(Array.from({ length: 16 }, run))
  return milliseconds(process.cpuUsage(before)) / count
}

interface Row {
  readonly name: string
  readonly earlier: number
  readonly cpu: number
}

const inMemory = async (): Promise<ReadonlyArray<Row>> => {
  const serve = Serve.make({ agent: { provider, log: false }, authorize: () => "somebody" })
  const handle = OpenAiChat.handler(serve)
  await cost(handle, 1_000)
  const rows: Array<Row> = []
  let earlier = 2_000
  for (const next of [2_000, 20_000]) {
    if (next > earlier) await cost(handle, next - earlier)
    rows.push({ name: "in memory", earlier: next, cpu: await cost(handle, 1_000) })
    earlier = next + 1_000
  }
  await serve[Symbol.asyncDispose]()
  return rows
}

/** Copies of everything that a request leaves in the tables. */
const multiply = (path: string, count: number): void => {
  const database = new DatabaseSync(path)
  const numbers = `WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${count})`
  const first = "(SELECT id FROM sessions LIMIT 1)"
  const columnsOf = (table: string): ReadonlyArray<string> =>
    database.prepare(`PRAGMA table_info(${table})`).all().map(({ name }) => String(name))
  for (const [table, id] of [["sessions", "id"], ["inbox", "session_id"], ["events", "session_id"]] as const) {
    const columns = columnsOf(table).filter((name) => name !== "key" || table === "inbox").filter((name) =>
      name !== "seq"
    )
    const values = columns.map((name) => name === id ? `'old-' || n` : `one.${name}`)
    database.exec(
      `INSERT INTO ${table} (${columns.join()}) ${numbers} SELECT ${values.join()} FROM ${table} AS one, n` +
        ` WHERE one.${id} = ${first}`
    )
  }
  database.exec(
    `INSERT INTO event_logs ${numbers} SELECT 'old-' || n, removed_to, turn_first, written_at FROM event_logs AS one, n` +
      ` WHERE one.session_id = ${first};` +
      "INSERT INTO messages SELECT old.key, position, message FROM sessions AS old, messages" +
      ` WHERE session = (SELECT key FROM sessions WHERE id = ${first}) AND old.id LIKE 'old-%'`
  )
  database.close()
}

const onSqlite = async (earlier: number): Promise<Row> => {
  const folder = mkdtempSync(join(tmpdir(), "belay-bench-"))
  const path = join(folder, "store.db")
  const store = SqliteStore.make({ path })
  const agent = createAgent({ provider, store: store.sessions, log: false })
  const host = Host.make({ agent, store })
  const running = await host.start()
  const handle = OpenAiChat.handler(Serve.make({ host, authorize: () => "somebody" }))
  await cost(handle, 1)
  if (earlier > 0) multiply(path, earlier)
  await cost(handle, 1_000)
  const row = { name: "on SQLite", earlier, cpu: await cost(handle, 1_000) }
  await running.drain()
  await agent.close()
  store.close()
  rmSync(folder, { recursive: true, force: true })
  return row
}

export const requests = async (): Promise<string> => {
  const rows = [...await inMemory()]
  for (const earlier of [0, 100_000, 1_000_000]) rows.push(await onSqlite(earlier))
  const base = (name: string) => rows.find((row) => row.name === name)!.cpu
  return [
    "### A request",
    "",
    "| host | requests before | CPU ms | ratio |",
    "|---|--:|--:|--:|",
    ...rows.map(({ cpu, earlier, name }) =>
      `| ${name} | ${earlier.toLocaleString("en")} | ${cpu.toFixed(2)} | ${(cpu / base(name)).toFixed(2)} |`
    ),
    ""
  ].join("\n")
}
