/**
 * What it costs to run sessions on a host: each engine, beside an agent without a host on the same store. Postgres is
 * real, and its CPU is not counted.
 */
import { createAgent, defineTool } from "@belay/core"
import type { LlmResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import type { SessionStore } from "@belay/core/SessionStore"
import * as PostgresStore from "@belay/providers/PostgresStore"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as ClusterEngine from "@belay/server/ClusterEngine"
import type { Engine } from "@belay/server/Engine"
import * as Host from "@belay/server/Host"
import * as PgBossEngine from "@belay/server/PgBossEngine"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startPostgres } from "../test/support/postgres.ts"

type Store = Pick<Host.Options["store"], "inbox" | "sessions"> & { readonly close: () => unknown }

/** How many model calls with a tool call come before the answer. The message says it. */
const provider: LlmProvider = {
  name: "fake",
  complete: ({ messages }) =>
    Effect.promise(async (): Promise<LlmResponse> => {
      let left = 0
      for (let at = messages.length - 1; at >= 0; at--) {
        const { content, role } = messages[at]!
        if (role === "user") {
          left += Number(content)
          break
        }
        if (role === "assistant") left--
      }
      const usage = { inputTokens: 10, outputTokens: 5 }
      if (left <= 0) return { model: "fake", text: "done", toolCalls: [], finishReason: "stop", usage }
      const toolCalls = [{ id: `call_${messages.length}`, name: "add", args: { a: left } }]
      return { model: "fake", text: "", toolCalls, finishReason: "tool-calls", usage }
    })
}

const add = defineTool({
  name: "add",
  description: "Adds",
  input: { type: "object" },
  idempotent: true,
  execute: async () => "3"
})

const agentOn = (store: SessionStore | undefined) =>
  createAgent({
    provider,
    tools: [add],
    freeze: false,
    limits: { steps: 10_000, toolCalls: 10_000, wallClockMs: 600_000 },
    ...(store === undefined ? {} : { store })
  })

interface Row {
  readonly name: string
  readonly messages: number
  readonly steps: number
  readonly cpu: number
  readonly commits: number
}

const counted = (sessions: SessionStore) => {
  let commits = 0
  // The methods of a store are functions of one object.
  const store: SessionStore = {
    ...sessions,
    commit: (...given) => {
      commits++
      return sessions.commit(...given)
    }
  }
  return { store, commits: () => commits }
}

/** Runs the same work: short messages, then messages with ten tool steps. `run` sends one message to a session. */
const measureWork = async (
  name: string,
  commits: () => number,
  run: (session: string, message: string) => Promise<unknown>
): Promise<Row> => {
  const all = async (sessions: number, rounds: number, message: string, prefix: string) => {
    const began = performance.now()
    await Promise.all(Array.from({ length: sessions }, async (_, index) => {
      for (let round = 0; round < rounds; round++) await run(`${prefix}-${index}`, message)
    }))
    return sessions * rounds * 1_000 / (performance.now() - began)
  }
  await all(20, 1, "2", "warm")
  const messages = await all(40, 5, "0", "short")
  const before = commits()
  const cpu = process.cpuUsage()
  const turns = await all(40, 1, "10", "long")
  const { system, user } = process.cpuUsage(cpu)
  const steps = 40 * 10
  return {
    name,
    messages,
    steps: turns * 10,
    cpu: (user + system) / 1_000 / steps,
    commits: (commits() - before) / steps
  }
}

const withoutHost = async (name: string, store: Store | undefined): Promise<Row> => {
  const { commits, store: sessions } = store === undefined
    ? { commits: () => 0, store: undefined }
    : counted(store.sessions)
  const agent = agentOn(sessions)
  const row = await measureWork(name, commits, async (id, message) => {
    const session = await agent.session({ id })
    await session.run(message)
    if (sessions === undefined) await session.close()
    else await session.release()
  })
  await agent.close()
  await store?.close()
  return row
}

const withHost = async (name: string, store: Store, engine?: Engine): Promise<Row> => {
  const { commits, store: sessions } = counted(store.sessions)
  const agent = agentOn(sessions)
  const host = Host.make({ agent, store: { ...store, sessions }, ...(engine === undefined ? {} : { engine }) })
  const running = await host.start()
  const row = await measureWork(name, commits, async (id, message) => {
    const { key } = await host.send(id, message)
    const outcome = await host.result(id, key)
    if (outcome.status !== "completed") throw new Error(JSON.stringify(outcome))
  })
  await running.drain()
  await agent.close()
  await store.close()
  return row
}

/** The CPU of one durable step in the beginning and at the end of a turn of 2,000 steps. */
const longTurn = async (store: Store): Promise<ReadonlyArray<readonly [string, number]>> => {
  const agent = agentOn(store.sessions)
  const session = await agent.session({ id: "long" })
  await session.run("300")
  const marks: Array<number> = []
  agent.on((event) => {
    if (event.type !== "llm-start") return
    const { system, user } = process.cpuUsage()
    marks.push((user + system) / 1_000)
  })
  await session.run("2000")
  const per = (from: number, to: number) => (marks[to]! - marks[from]!) / (to - from)
  await agent.close()
  await store.close()
  return [["1 to 200", per(0, 200)], ["900 to 1,100", per(900, 1_100)], ["1,800 to 2,000", per(1_800, 2_000)]]
}

export const host = async (): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "belay-bench-"))
  let files = 0
  const sqlite = () => SqliteStore.make({ path: join(folder, `${files++}.db`) })
  const server = await startPostgres()
  const { url } = server
  let schemas = 0
  const postgres = () => PostgresStore.make({ url, schema: `bench_${schemas++}` })
  const rows = [
    await withoutHost("an agent without a store", undefined),
    await withoutHost("an agent on SQLite", sqlite()),
    await withHost("a host on SQLite, engine `local`", sqlite()),
    await withoutHost("an agent on Postgres", postgres()),
    await withHost("a host on Postgres, engine `local`", postgres()),
    await withHost("a host on Postgres, engine `cluster`", postgres(), ClusterEngine.make({ url })),
    await withHost("a host on Postgres, engine `pgBoss`", postgres(), PgBossEngine.make({ url, concurrency: 40 }))
  ]
  const flat = await longTurn(sqlite())
  await server.dispose()
  rmSync(folder, { recursive: true, force: true })
  const base = rows[1]!
  return [
    "### Sessions on a host: 40 sessions at once in one process",
    "",
    "| | messages/s | steps/s | ratio to the agent on SQLite | CPU ms a step | commits a step |",
    "|---|--:|--:|--:|--:|--:|",
    ...rows.map(({ commits, cpu, messages, name, steps }) =>
      `| ${name} | ${messages.toFixed(0)} | ${steps.toFixed(0)} | ${(steps / base.steps).toFixed(2)} | ${
        cpu.toFixed(2)
      } | ${commits.toFixed(2)} |`
    ),
    "",
    "### One turn of 2,000 durable steps on SQLite",
    "",
    "| steps | CPU ms a step | ratio |",
    "|---|--:|--:|",
    ...flat.map(([name, cpu]) => `| ${name} | ${cpu.toFixed(2)} | ${(cpu / flat[0]![1]).toFixed(2)} |`),
    ""
  ].join("\n")
}
