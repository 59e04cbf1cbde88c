/**
 * Databases as every release wrote them, kept for good as dumps: each of them is still opened, and its sessions still
 * go on.
 */
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import type { NewEntry } from "@belay/core/Inbox"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Scripted from "@belay/testing/Scripted"
import * as Effect from "effect/Effect"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "vitest"

const folder = new URL("./golden/", import.meta.url)
const dumps = readdirSync(folder).sort()
const run = Effect.runPromise

const inFolder = async (prove: (path: string) => Promise<void> | void): Promise<void> => {
  const home = mkdtempSync(join(tmpdir(), "belay-golden-"))
  try {
    await prove(join(home, "store.db"))
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

const newEntry: Omit<NewEntry, "sessionId"> = { key: "new", kind: "message", body: { message: "more" }, at: 0 }

const versionOf = (path: string): unknown => {
  using database = new DatabaseSync(path, { readOnly: true })
  return database.prepare("PRAGMA user_version").get()?.["user_version"]
}

describe("a database of an earlier release", () => {
  it("exists here for every version up to the current one", () =>
    inFolder((path) => {
      SqliteStore.make({ path }).close()
      const written = Number(versionOf(path))
      for (let version = 1; version <= written; version++) {
        const name = `sqlite-v${version}.sql`
        assert.isTrue(
          existsSync(new URL(name, folder)),
          `${name} is missing: dump it with the release that writes it, and never change it`
        )
      }
      assert.lengthOf(dumps, written)
    }))

  it.each(dumps)("%s has all its content and can be continued", (name) =>
    inFolder(async (path) => {
      {
        using old = new DatabaseSync(path)
        old.exec(readFileSync(new URL(name, folder), "utf8"))
      }
      using store = SqliteStore.make({ path })
      const sessions = await run(store.sessions.list())
      assert.deepStrictEqual(
        sessions.map(({ id, messages, revision, status }) => ({ id, messages, revision, status })),
        [
          { id: "ended", messages: 2, revision: 2, status: "idle" },
          { id: "waiting", messages: 3, revision: 6, status: "suspended" }
        ]
      )
      assert.strictEqual(await run(store.artifacts.read("waiting", "hook:log")), "one 👋\ntwo")
      assert.deepInclude((await run(store.artifacts.list("waiting")))[0], {
        key: "hook:log",
        size: 10,
        by: "gate",
        mimeType: "text/plain"
      })
      const records = await run(store.sessions.records("waiting"))
      assert.deepStrictEqual(records.map((record) => (record as { readonly action: string }).action), [
        "Continue",
        "Ask"
      ])
      assert.deepStrictEqual(await run(store.rules.load), [
        { hook: "gate", tool: "look" },
        { hook: "policy", tool: "deploy", fingerprint: "{\"args\":{},\"tool\":\"deploy\"}" }
      ])
      const account = await run(store.ledger.update("user/ada", (before) => [before, before]))
      assert.deepInclude(account, {
        spent: { money: "1250000000", tokens: 420, calls: 3 },
        estimated: 1,
        level: "warn"
      })
      assert.deepStrictEqual(Object.keys(account.holds), ["call-4"])

      // Inboxes exist from version 2 on.
      const inbox = name === "sqlite-v1.sql" ? [] : await run(store.inbox.open("waiting"))
      assert.deepStrictEqual(
        inbox.map(({ attempts, body, key, outcome }) => ({ attempts, body, key, outcome })),
        name === "sqlite-v1.sql" ? [] : [{
          attempts: 2,
          body: { message: "deploy it, don't ask" },
          key: "m2",
          outcome: { status: "suspended" }
        }]
      )
      // Events exist from version 3 on.
      const { removedTo, rows } = await run(store.events.read("waiting", { limit: 9 }))
      assert.deepStrictEqual(
        { removedTo, rows: rows.map(({ first, last }) => ({ first, last })) },
        dumps.indexOf(name) < 2 ? { removedTo: 0, rows: [] } : { removedTo: 3, rows: [{ first: 4, last: 9 }] }
      )
      assert.strictEqual((await run(store.inbox.add({ ...newEntry, sessionId: "waiting" }))).type, "added")

      const deploy = defineTool({
        name: "deploy",
        description: "Deploys",
        input: { type: "object" },
        execute: () => "deployed"
      })
      await using agent = createAgent({
        provider: Scripted.make(["done"]),
        tools: [deploy],
        store: store.sessions,
        hooks: [{ name: "gate", tools: "deploy", preToolCall: () => HookAction.ask("production") }]
      })
      const session = await agent.session({ id: "waiting" })
      assert.deepStrictEqual(session.pending.map(({ args, callId }) => ({ args, callId })), [{
        args: { to: "production" },
        callId: "d1"
      }])
      const { messages, text } = await session.resume({ d1: { type: "approve" } })
      assert.strictEqual(text, "done")
      assert.deepStrictEqual(messages.filter(({ role }) => role === "tool").map(({ content }) => content), [
        "look done",
        "deployed"
      ])
      assert.strictEqual((await run(store.sessions.load("waiting")))?.messages.length, messages.length)
    }))
})
