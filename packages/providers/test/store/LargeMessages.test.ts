/** Large messages: they are not read again each time that somebody looks, and not written again with every step. */
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import type { Entry } from "@belay/core/Inbox"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Scripted from "@belay/testing/Scripted"
import * as Effect from "effect/Effect"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "vitest"

const run = <A>(effect: Effect.Effect<A, unknown>): Promise<A> => Effect.runPromise(effect)

const inboxOf = (path = join(mkdtempSync(join(tmpdir(), "belay-large-")), "store.db")) => {
  const store = SqliteStore.make({ path })
  const { inbox } = store
  const add = (key: string, body: Entry["body"]) =>
    run(inbox.add({ sessionId: "s", key, kind: "message", body, at: 0 }))
  const open = () => run(inbox.open("s"))
  return { add, inbox, open, path, store }
}

const large = (letter: string) => ({ message: letter.repeat(100_000) })

describe("a large message", () => {
  it("is read once, with its row as it is now", async () => {
    const { path, ...sender } = inboxOf()
    await sender.add("a", large("a"))
    sender.store.close()
    const { add, inbox, open, store } = inboxOf(path)
    await add("b", { message: "small" })
    const [first] = await open()
    assert.deepStrictEqual(first?.body, large("a"))
    await run(inbox.begin("s", "a"))
    const [second, small] = await open()
    assert.strictEqual(second?.body, first?.body)
    assert.deepInclude(second, { status: "begun", attempts: 1, key: "a" })
    assert.deepStrictEqual(small?.body, { message: "small" })
    assert.strictEqual((await run(inbox.get("s", "a")))?.body, first?.body)
    store.close()
  })

  it("is not read by the process that added it, and not written again when its row changes", async () => {
    const { add, inbox, open, path, store } = inboxOf()
    await add("a", large("a"))
    const database = new DatabaseSync(path)
    assert.deepStrictEqual({ ...database.prepare("SELECT body FROM inbox").get() }, { body: "" })
    const other = JSON.stringify(large("b"))
    database.prepare("UPDATE bodies SET body = ?").run(other)
    await run(inbox.begin("s", "a"))
    await run(inbox.report("s", "a", "waiting", null))
    assert.deepStrictEqual((await open())[0]?.body, large("a"))
    assert.deepStrictEqual({ ...database.prepare("SELECT body FROM bodies").get() }, { body: other })
    await run(inbox.report("s", "a", "done", null))
    await run(inbox.prune(Infinity))
    assert.isUndefined(database.prepare("SELECT body FROM bodies").get())
    database.close()
    store.close()
  })

  it("is returned as it was added", async () => {
    const { add, store } = inboxOf()
    const added = await add("a", large("a"))
    const again = await add("a", large("b"))
    assert.deepInclude(added, { type: "added" })
    assert.deepInclude(again, { type: "known" })
    if (added.type === "full" || again.type === "full") return assert.fail("it is not full")
    assert.deepStrictEqual(again.entry, added.entry)
    assert.deepInclude(added.entry, { body: large("a"), seq: 1, status: "waiting", attempts: 0 })
    store.close()
  })

  it("is the new one after another process has removed the first and added it again", async () => {
    const { add, open, path, store } = inboxOf()
    const other = inboxOf(path)
    await add("a", large("a"))
    assert.deepStrictEqual((await open())[0]?.body, large("a"))
    await run(other.inbox.report("s", "a", "done", null))
    await run(other.inbox.prune(Infinity))
    await run(other.inbox.add({ sessionId: "s", key: "a", kind: "message", body: large("c"), at: 1 }))
    assert.deepStrictEqual((await open()).map(({ body, seq }) => ({ body, seq })), [{ body: large("c"), seq: 1 }])
    other.store.close()
    store.close()
  })

  it("is not read again for who waits for its outcome", async () => {
    const { add, inbox, open, store } = inboxOf()
    await add("a", large("a"))
    const [first] = await open()
    await run(inbox.report("s", "a", "done", { status: "completed" }))
    const done = await run(inbox.get("s", "a"))
    assert.strictEqual(done?.body, first?.body)
    assert.deepInclude(done, { status: "done", outcome: { status: "completed" } })
    store.close()
  })

  it("is not kept when others need the room", async () => {
    const { add, open, store } = inboxOf()
    const bodies = Array.from({ length: 4 }, (_, n) => ({ message: String(n).repeat(10_000_000) }))
    for (const [n, body] of bodies.entries()) await add(`large ${n}`, body)
    const [old] = await open()
    const [again] = await open()
    assert.deepStrictEqual(again?.body, bodies[0])
    assert.notStrictEqual(again?.body, old?.body)
    store.close()
  })

  it("that cannot be read is null", async () => {
    const { add, path, store } = inboxOf()
    await add("a", large("a"))
    const database = new DatabaseSync(path)
    database.prepare("UPDATE bodies SET body = ?").run("x".repeat(100_000))
    database.close()
    const other = inboxOf(path)
    assert.strictEqual((await run(other.inbox.get("s", "a")))?.body, null)
    other.store.close()
    store.close()
  })
})

describe("a message with a large file", () => {
  it("is stored once, however many steps its turn has", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "belay-large-")), "store.db")
    const file = {
      type: "file" as const,
      mediaType: "image/png",
      url: `data:image/png;base64,${"QUJD".repeat(25_000)}`
    }
    const seen: Array<number> = []
    const lengthOfState = () => {
      const database = new DatabaseSync(path, { readOnly: true })
      const row = database.prepare("SELECT length(state) AS length FROM sessions").get()
      database.close()
      return Number(row?.["length"])
    }
    const look = defineTool({
      name: "look",
      description: "Looks",
      input: { type: "object" },
      execute: () => {
        seen.push(lengthOfState())
        return "looked"
      }
    })
    const gate = { name: "gate", preToolCall: () => HookAction.ask("really?") }
    const agentWith = (store: SqliteStore.SqliteStore, script: ReadonlyArray<Scripted.Entry>) =>
      createAgent({ provider: Scripted.make(script), tools: [look], hooks: [gate], store: store.sessions, log: false })
    {
      using store = SqliteStore.make({ path })
      await using agent = agentWith(store, [Scripted.toolCalls({ name: "look", id: "a" })])
      await using session = await agent.session({ id: "s" })
      assert.strictEqual((await session.run({ message: "see", attachments: [file] })).status, "suspended")
    }
    {
      using store = SqliteStore.make({ path })
      const loaded = await run(store.sessions.load("s"))
      assert.deepStrictEqual(loaded?.input.attachments, [file])
      await using agent = agentWith(store, [Scripted.toolCalls({ name: "look", id: "b" }), "done"])
      await using session = await agent.session({ id: "s" })
      assert.strictEqual((await session.resume({ a: { type: "approve" } })).status, "suspended")
      assert.strictEqual((await session.resume({ b: { type: "approve" } })).text, "done")
      assert.deepStrictEqual((await run(store.sessions.load("s")))?.input.attachments, [file])
    }
    assert.deepStrictEqual(seen.map((length) => length < 10_000), [true, true], String(seen))
  })
})
