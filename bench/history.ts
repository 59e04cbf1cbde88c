/**
 * Long conversations and many sessions: a step after 100,000 messages, opening such a session, and 1,000 sessions on
 * one SQLite store. The models do not read the messages, because what they do with them is their own work.
 */
import { createAgent } from "@belay/core"
import type { LlmProvider } from "@belay/core/LlmProvider"
import { SqliteStore } from "@belay/providers"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { type Figure, measure, table } from "./measure.ts"
import { add, earlierMessages, repeat, script, turns } from "./toolTurn.ts"

let ids = 0

/** A session that grows, with an answer for each of its runs. */
const sessionOf = async (length: number, store: SqliteStore.SqliteStore | undefined) => {
  let answer = script()
  const provider: LlmProvider = {
    name: "fake",
    complete: () =>
      Effect.promise(async () => {
        const response = answer()
        return { ...response, toolCalls: response.toolCalls.map((call) => ({ ...call, id: `id_${ids++}` })) }
      })
  }
  const sessions = store === undefined ? {} : { store: store.sessions }
  const agent = createAgent({ provider, tools: [add], freeze: false, ...sessions })
  const session = await agent.session({ messages: earlierMessages(length) })
  return async () => {
    answer = script()
    await session.run("add")
  }
}

const perStep = (figures: ReadonlyArray<Figure>): ReadonlyArray<Figure> =>
  figures.map(({ cpu, name, wall }) => ({ name, cpu: cpu / turns, wall: wall / turns }))

const steps = async (store: SqliteStore.SqliteStore | undefined): Promise<string> => {
  const contenders = []
  for (const length of [10, 10_000, 100_000]) {
    contenders.push({ name: `${length} earlier messages`, run: repeat(await sessionOf(length, store)) })
  }
  const figures = await measure(contenders, store === undefined ? 200 : 20, 9)
  return table(`A step, ${store === undefined ? "in memory" : "on SQLite"}`, perStep(figures))
}

const idle: LlmProvider = {
  name: "fake",
  complete: () =>
    Effect.succeed({
      model: "fake",
      text: "ok",
      toolCalls: [],
      finishReason: "stop",
      usage: { inputTokens: 1, outputTokens: 1 }
    })
}

/** The longest time without a turn of the event loop while a session is opened. */
const opening = async (path: string): Promise<string> => {
  const rows: Array<string> = []
  for (const length of [1_000, 100_000]) {
    using store = SqliteStore.make({ path: `${path}-${length}` })
    await using first = createAgent({ provider: idle, store: store.sessions })
    const session = await first.session({ id: "long", messages: earlierMessages(length) })
    await session.run("hello")
    await first.close()
    const blocks: Array<number> = []
    const times: Array<number> = []
    for (let round = 0; round < 5; round++) {
      await using agent = createAgent({ provider: idle, store: store.sessions })
      let last = performance.now()
      let worst = 0
      let isOpen = false
      const watch = () => {
        const now = performance.now()
        worst = Math.max(worst, now - last)
        last = now
        if (!isOpen) setImmediate(watch)
      }
      setImmediate(watch)
      const began = performance.now()
      const reopened = await agent.session({ id: "long" })
      times.push(performance.now() - began)
      await new Promise((resolve) => setImmediate(resolve))
      isOpen = true
      blocks.push(worst)
      await reopened.release()
    }
    const middle = (list: Array<number>) => list.sort((a, b) => a - b)[list.length >> 1]!.toFixed(0)
    rows.push(`| ${length} messages | ${middle(times)} | ${middle(blocks)} |`)
  }
  return [
    "### Opening a stored session",
    "",
    "| | ms | longest block of the event loop, ms |",
    "|---|--:|--:|",
    ...rows,
    ""
  ].join("\n")
}

/** 1,000 sessions with ten tool turns each, at once, whose models answer at once. */
const many = async (path: string): Promise<string> => {
  using store = SqliteStore.make({ path })
  const answers = new Map<string, ReturnType<typeof script>>()
  const provider: LlmProvider = {
    name: "fake",
    complete: ({ messages }) =>
      Effect.promise(async () => {
        const name = JSON.stringify(messages[0]?.content)
        const answer = answers.get(name) ?? script()
        answers.set(name, answer)
        const response = answer()
        return { ...response, toolCalls: response.toolCalls.map((call) => ({ ...call, id: `id_${ids++}` })) }
      })
  }
  await using agent = createAgent({ provider, tools: [add], store: store.sessions, freeze: false })
  const count = 1_000
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const began = performance.now()
  await Promise.all(Array.from({ length: count }, async (_, index) => {
    const session = await agent.session()
    await session.run(`add ${index}`)
  }))
  const seconds = (performance.now() - began) / 1_000
  delay.disable()
  return [
    "### 1,000 sessions at once on one SQLite store",
    "",
    "| steps/s | event loop delay p99, ms | longest, ms |",
    "|--:|--:|--:|",
    `| ${(count * turns / seconds).toFixed(0)} | ${(delay.percentile(99) / 1e6).toFixed(0)} | ${
      (delay.max / 1e6).toFixed(0)
    } |`,
    ""
  ].join("\n")
}

export const longHistory = async (): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "belay-bench-"))
  try {
    const parts = [await steps(undefined)]
    const store = SqliteStore.make({ path: join(folder, "steps.db") })
    parts.push(await steps(store))
    store.close()
    parts.push(await opening(join(folder, "opening.db")))
    parts.push(await many(join(folder, "many.db")))
    return parts.join("\n")
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
