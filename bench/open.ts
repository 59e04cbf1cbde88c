/** A host on SQLite in which 100,000 sessions wait for people, beside one with no session. */
import { createAgent, defineTool } from "@belay/core"
import * as HookAction from "@belay/core/HookAction"
import type { LlmProvider } from "@belay/core/LlmProvider"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Host from "@belay/server/Host"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

const count = 100_000

/** Calls the tool once if the message says so. */
const provider: LlmProvider = {
  name: "fake",
  complete: ({ messages }) =>
    Effect.succeed({
      model: "fake",
      text: "done",
      toolCalls: messages.at(-1)?.content === "ask" ? [{ id: "call", name: "act", args: {} }] : [],
      finishReason: messages.at(-1)?.content === "ask" ? "tool-calls" : "stop",
      usage: { inputTokens: 10, outputTokens: 5 }
    })
}

const act = defineTool({ name: "act", description: "Acts", input: { type: "object" }, execute: async () => "acted" })
const gate = { name: "gate", preToolCall: () => HookAction.ask("really?") }

const opened = (path: string) => {
  const store = SqliteStore.make({ path })
  const agent = createAgent({ provider, tools: [act], hooks: [gate], store: store.sessions, log: false })
  const host = Host.make({ agent, store })
  const close = async () => {
    await agent.close()
    store.close()
  }
  return { host, close }
}

/** Makes a file with sessions that wait: one by its host, and copies of it. */
const fill = async (path: string): Promise<void> => {
  const { close, host } = opened(path)
  const running = await host.start()
  await host.send("first", "ask", { key: "ask" })
  await host.result("first", "ask")
  await running.drain()
  await close()
  const database = new DatabaseSync(path)
  const numbers = `WITH RECURSIVE some(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM some WHERE n < ${count - 1})`
  database.exec(`BEGIN;
    ${numbers} INSERT INTO sessions (id, revision, turn, status, messages, state, created_at, updated_at)
      SELECT 'w' || n, revision, turn, status, messages, json_set(state, '$.sessionId', 'w' || n), created_at,
        updated_at + n * 0.001 FROM sessions, some;
    INSERT INTO messages SELECT sessions.key, position, message FROM messages, sessions WHERE sessions.key <> session;
    ${numbers} INSERT INTO inbox (session_id, key, kind, body, at, tenant, status, attempts, outcome)
      SELECT 'w' || n, key, kind, body, at, tenant, status, attempts, outcome FROM inbox, some;
    COMMIT`)
  database.close()
}

const heap = (): number => {
  for (let i = 0; i < 4; i++) globalThis.gc?.()
  return process.memoryUsage().heapUsed / 2 ** 20
}

const cpuOf = async (work: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage()
  await work()
  const { system, user } = process.cpuUsage(before)
  return (system + user) / 1_000
}

const idleMs = 5_000

interface Figures {
  readonly heap: number
  readonly idle: number
  readonly message: number
  readonly answer: number
  readonly list: number
}

const figuresOf = async (path: string, isFull: boolean): Promise<Figures> => {
  const before = heap()
  const { close, host } = opened(path)
  const running = await host.start()
  const send = async (prefix: string, sessions: number) => {
    await Promise.all(Array.from({ length: sessions }, async (_, index) => {
      const { key } = await host.send(`${prefix}${index}`, "hello")
      await host.result(`${prefix}${index}`, key)
    }))
  }
  await send("warm", 200)
  const live = heap() - before
  const idle = await cpuOf(() => new Promise((resolve) => setTimeout(resolve, idleMs)))
  const messages: Array<number> = []
  for (let round = 0; round < 5; round++) messages.push(await cpuOf(() => send(`m${round}-`, 200)) / 200)
  const asked = Array.from({ length: 200 }, (_, index) => isFull ? `w${index + 1}` : `a${index}`)
  if (!isFull) {
    for (const id of asked) await host.send(id, "ask", { key: "ask" })
    for (const id of asked) await host.result(id, "ask")
  }
  const answer = await cpuOf(() =>
    Promise.all(asked.map(async (id) => {
      const { key } = await host.decide(id, { call: { type: "approve" } })
      const outcome = await host.result(id, key)
      if (outcome.status !== "completed") throw new Error(JSON.stringify(outcome))
    }))
  ) / asked.length
  const pages: Array<number> = []
  for (let last: number | undefined; pages.length < 1 + count / 1_000;) {
    const began = performance.now()
    const page = await host.list({ limit: 1_000, ...(last === undefined ? {} : { before: last }) })
    pages.push(performance.now() - began)
    last = page.at(-1)?.updatedAt
    if (page.length < 1_000) break
  }
  await running.drain()
  await close()
  return {
    heap: live,
    idle: idle / idleMs * 100,
    message: messages.sort((a, b) => a - b)[2]!,
    answer,
    list: Math.max(...pages)
  }
}

export const open = async (): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "belay-bench-"))
  const [few, many] = [join(folder, "few.db"), join(folder, "many.db")]
  await fill(many)
  await figuresOf(few, false)
  const none = await figuresOf(join(folder, "none.db"), false)
  const all = await figuresOf(many, true)
  rmSync(folder, { recursive: true, force: true })
  const row = (name: string, of: (one: Figures) => number, digits: number) =>
    `| ${name} | ${of(none).toFixed(digits)} | ${of(all).toFixed(digits)} | ${(of(all) / of(none)).toFixed(2)} |`
  return [
    `### A host on SQLite in which ${count.toLocaleString("en")} sessions wait for people`,
    "",
    "| | no session waits | all wait | ratio |",
    "|---|--:|--:|--:|",
    row("heap of the host, MiB", (one) => one.heap, 1),
    row("CPU while nothing happens, % of a core", (one) => one.idle, 2),
    row("CPU of a message to another session, ms", (one) => one.message, 2),
    row("CPU of an answer to one that waits, with its turn, ms", (one) => one.answer, 2),
    `| slowest page of 1,000 sessions, ms | – | ${all.list.toFixed(0)} | |`,
    ""
  ].join("\n")
}
