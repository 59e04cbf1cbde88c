/** Sessions whose disk is full for a while. Their process goes on running. */
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import { text, whyInvalid } from "@belay/core/Message"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Host from "@belay/server/Host"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import { DatabaseSync } from "node:sqlite"
import { assert } from "vitest"
import { failure, gate, newFile, planner, pollMs } from "./hosted.ts"

/** Opens a store whose file cannot grow while its disk is full. */
const openStore = () => {
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

/** More than what fits into pages that are not used. */
const large = "x".repeat(200_000)

/** Fills the disk for `fullMs` while `sessions` turns run a tool. */
export const fullDisk = async (fullMs: number, sessions: number): Promise<void> => {
  const { fill, free, store } = openStore()
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
  const host = Host.make({ agent, store, pollMs })
  // It logs what it tries again.
  const running = await Effect.runPromise(Effect.provideService(host.start(), References.MinimumLogLevel, "None"))
  const ids = Array.from({ length: sessions }, (_, index) => `s${index}`)
  for (const id of ids) {
    await host.send(id, "do work", { key: "runs" })
    await host.send(id, "next", { key: "next" })
  }
  await begun.opened

  fill()
  const error = await failure(host.send("late", large, { key: "late" }))
  assert.deepInclude(error, { _tag: "HostError", problem: "store" })
  assert.match(String(error["message"]), /no space is left on the disk.+Try again with the same key/)
  go.open()
  await Effect.runPromise(Effect.sleep(fullMs))
  free()

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
  store.close()
}
