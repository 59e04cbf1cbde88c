/** What is left of a person after they were erased. */
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import type { EventLog } from "@belay/core/EventLog"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Host from "@belay/server/Host"
import * as OpenAiChat from "@belay/server/OpenAiChat"
import * as Serve from "@belay/server/Serve"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "vitest"
import { failure, gate, newFile, planner, pollMs, tool } from "../support/hosted.ts"
import { checkFrozen, checkRemoved, live, person, ruleOfAll } from "../support/person.ts"

describe("erasing a person from a SQLite file", () => {
  it("leaves no byte of them in the file or its log, and everything of others", async () => {
    const path = newFile()
    const store = SqliteStore.make({ path })
    const { agent, host, other, running } = await live(store)
    const copies = () => ["", "-wal"].map((end) => readFileSync(`${path}${end}`, "latin1").split(person).length - 1)
    assert.isAbove(copies()[0]! + copies()[1]!, 10)
    const before = await host.conversation("bob")

    const receipt = await host.erase({ principal: person })
    assert.deepEqual(copies(), [0, 0])
    assert.deepEqual(receipt.sessions, ["ada", "ada2", "ada3"])
    assert.deepEqual(receipt.running, [])
    assert.isTrue(receipt.isCompacted)
    assert.isAbove(receipt.messages, 4)
    assert.isAbove(receipt.artifacts, 0)
    assert.isAtLeast(receipt.entries, 3)
    assert.isAbove(receipt.accounts, 0)
    assert.strictEqual(receipt.approvals, 2)
    assert.deepEqual(await Effect.runPromise(store.rules.load), [ruleOfAll])
    assert.notInclude(JSON.stringify(receipt), person)
    for (const id of ["ada", "ada2", "ada3"]) assert.isUndefined(await host.conversation(id))
    assert.deepEqual((await host.list()).map(({ id }) => id), ["bob"])
    assert.deepEqual(await host.conversation("bob"), before)
    assert.strictEqual((await host.result("bob", other.key)).status, "completed")

    const again = await host.erase({ principal: person })
    assert.deepInclude(again, { sessions: [], messages: 0, entries: 0, accounts: 0 })
    const anew = await host.send("ada", "hello", { tenant: "x" })
    assert.strictEqual((await host.result("ada", anew.key)).status, "completed")
    await running.drain()
    await agent.close()
    store.close()
  })

  it("finds their sessions, although what they have sent was removed before", async () => {
    const store = SqliteStore.make({ path: newFile() })
    await checkRemoved(store)
    store.close()
  })

  it("cancels a turn that runs, and nothing of it comes back", async () => {
    const path = newFile()
    const store = SqliteStore.make({ path })
    const { open, opened } = gate()
    const began = gate()
    const slow = tool("slow", [], () => {
      began.open()
      return opened
    })
    const agent = createAgent({ provider: planner(), store: store.sessions, tools: [slow], log: false })
    const host = Host.make({ agent, store, pollMs })
    const running = await host.start()
    await host.send("ada", "do slow", { tenant: person, key: `for ${person}` })
    await began.opened
    const [receipt] = await Promise.all([host.erase({ principal: person }), Promise.resolve().then(open)])
    assert.deepEqual(receipt.sessions, ["ada"])
    assert.deepEqual(receipt.running, [])
    await running.drain()
    assert.isUndefined(await host.conversation("ada"))
    for (const end of ["", "-wal"]) assert.notInclude(readFileSync(`${path}${end}`, "latin1"), person)
    await agent.close()
    store.close()
  })

  it("stores nothing any more of a turn that does not stop, and a new session may have its id", async () => {
    const path = newFile()
    const store = SqliteStore.make({ path })
    const [began, go] = [gate(), gate()]
    const slow = defineTool({
      name: "slow",
      description: "slow",
      input: { type: "object" },
      execute: async (_, { artifacts }) => {
        await artifacts.write("before", person)
        began.open()
        await go.opened
        await artifacts.append("after", person)
        return `slow for ${person}`
      }
    })
    const agent = createAgent({
      provider: planner(),
      store: store.sessions,
      artifacts: store.artifacts,
      tools: [slow],
      log: false
    })
    // The process that runs the turn looks for cancellations when it is awake again.
    const runner = Host.make({ agent, store, pollMs: 1_000 })
    const running = await runner.start()
    const other = Host.make({ agent, store: SqliteStore.make({ path }), pollMs })
    await other.send("idle", `hello ${person}`, { tenant: person })
    await other.result("idle", (await other.send("idle", "hello", { tenant: person })).key)
    await other.send("busy", "do slow", { tenant: person })
    await began.opened
    const receipt = await other.erase({ principal: person }, { withinMs: 0 })
    assert.deepEqual([receipt.sessions, receipt.running], [["busy", "idle"], ["busy"]])
    assert.strictEqual(receipt.artifacts, 1)
    go.open()
    await running.drain()
    assert.deepEqual(await other.list(), [])
    for (const end of ["", "-wal"]) assert.notInclude(readFileSync(`${path}${end}`, "latin1"), person)
    const again = await runner.start()
    const { key } = await other.send("busy", "hello", { tenant: "x" })
    assert.deepInclude(await other.result("busy", key), { status: "completed", text: "re: hello" })
    await again.drain()
    await agent.close()
    store.close()
  })

  it("stores nothing of an erased session that a frozen process still has", async () => {
    const store = SqliteStore.make({ path: newFile() })
    await checkFrozen(store)
    store.close()
  })

  it("says that the file is not compacted while another process reads it, and holds up nobody for that", async () => {
    const path = newFile()
    const store = SqliteStore.make({ path })
    const agent = createAgent({ provider: planner(), store: store.sessions, log: false })
    const host = Host.make({ agent, store, pollMs })
    const running = await host.start()
    await host.result("ada", (await host.send("ada", person)).key)
    const reader = new DatabaseSync(path)
    reader.exec("BEGIN")
    reader.prepare("SELECT count(*) FROM sessions").get()
    let ticks = 0
    const timer = setInterval(() => ticks++, 20)
    const receipt = await host.erase({ session: "ada" })
    clearInterval(timer)
    assert.deepEqual([receipt.sessions, receipt.isCompacted], [["ada"], false])
    // It waits between its attempts, and not in them.
    assert.isAbove(ticks, 20)
    reader.exec("COMMIT")
    reader.close()
    assert.isTrue((await host.erase({ session: "ada" })).isCompacted)
    for (const end of ["", "-wal"]) assert.notInclude(readFileSync(`${path}${end}`, "latin1"), person)
    await running.drain()
    await agent.close()
    store.close()
  })

  it("erases a session with those that continue it, and no session with a similar id", async () => {
    const store = SqliteStore.make({ path: ":memory:" })
    const agent = createAgent({ provider: planner(), store: store.sessions, log: false })
    const host = Host.make({ agent, store, pollMs })
    const running = await host.start()
    const sub = "s-r2.0123456789abcd"
    const ids = ["s", "s-r2", "s-r10", sub, "s-r", "s-rx", "s.x", "s2", "t"]
    for (const id of ids) await host.result(id, (await host.send(id, "hi")).key)
    const receipt = await host.erase({ session: "s" })
    assert.deepEqual(receipt.sessions, ["s", "s-r10", "s-r2", sub])
    assert.deepEqual((await host.list()).map(({ id }) => id).sort(), ["s-r", "s-rx", "s.x", "s2", "t"])
    await running.drain()
    store.close()
  })

  it("waits for events that are being written, so that a new session with the id does not get them", async () => {
    const path = newFile()
    const store = SqliteStore.make({ path })
    const agent = createAgent({ provider: planner(), store: store.sessions, log: false })
    const go = gate()
    const events: EventLog = {
      ...store.events,
      write: (...given) => Effect.andThen(Effect.promise(() => go.opened), store.events.write(...given))
    }
    const host = Host.make({ agent, store: { ...store, events }, pollMs })
    const running = await host.start()
    await host.result("ada", (await host.send("ada", `hello ${person}`)).key)
    const erased = host.erase({ session: "ada" }).then(() => "erased")
    const waits = Effect.runPromise(Effect.as(Effect.sleep(10 * pollMs), "waits"))
    assert.strictEqual(await Promise.race([erased, waits]), "waits")
    go.open()
    await erased
    const { key } = await host.send("ada", "hello")
    await host.result("ada", key)
    await running.drain()
    const { rows } = await Effect.runPromise(store.events.read("ada", { after: 0, limit: 100 }))
    assert.isAbove(rows.length, 0)
    assert.notInclude(JSON.stringify(rows), person)
    await agent.close()
    store.close()
  })

  it("does not wait for a log that is away", async () => {
    const store = SqliteStore.make({ path: ":memory:" })
    const agent = createAgent({ provider: planner(), store: store.sessions, log: false })
    const go = gate()
    const events: EventLog = { ...store.events, write: () => Effect.promise(() => go.opened) }
    const host = Host.make({ agent, store: { ...store, events }, pollMs })
    const running = await host.start()
    await host.result("ada", (await host.send("ada", `hello ${person}`)).key)
    assert.deepEqual((await host.erase({ session: "ada" }, { withinMs: 1 })).running, [])
    go.open()
    await running.drain()
    store.close()
  })

  it("finds the sessions that a server has named", async () => {
    const path = newFile()
    const store = SqliteStore.make({ path })
    const agent = createAgent({ provider: planner(), store: store.sessions, log: false })
    const host = Host.make({ agent, store, pollMs })
    const running = await host.start()
    const server = Serve.make({ host, authorize: (request) => request.headers.get("authorization") ?? undefined })
    const handle = OpenAiChat.handler(server)
    const ask = (who: string, content: string) =>
      handle(
        new Request("http://127.0.0.1/v1/chat/completions", {
          method: "POST",
          headers: { authorization: who, "content-type": "application/json" },
          body: JSON.stringify({ model: "m", messages: [{ role: "user", content }] })
        })
      ).then((response) => response.text())
    assert.include(await ask("ada", `I am ${person}`), person)
    assert.include(await ask("bob", "I am bob"), "bob")
    // The inbox does not know them any more; the ids of the sessions do.
    await Effect.runPromise(store.inbox.prune(Date.now() + 1_000))
    const receipt = await host.erase({ principal: "ada" })
    assert.strictEqual(receipt.sessions.length, 1)
    assert.strictEqual((await host.list()).length, 1)
    for (const end of ["", "-wal"]) assert.notInclude(readFileSync(`${path}${end}`, "latin1"), person)
    await running.drain()
    store.close()
  })

  it("refuses what it cannot mean, and stores that cannot erase", async () => {
    const store = SqliteStore.make({ path: ":memory:" })
    const agent = createAgent({ provider: planner(), store: store.sessions, log: false })
    const host = Host.make({ agent, store, pollMs })
    for (
      const target of [{}, { session: "" }, { principal: "" }, { session: "a", principal: "b" }, { session: "a/b" }]
    ) {
      assert.strictEqual((await failure(host.erase(target as never)))["problem"], "wrong-input", JSON.stringify(target))
    }
    assert.strictEqual((await failure(host.erase({ session: "a" }, { withinMs: -1 })))["problem"], "wrong-input")
    assert.include((await failure(host.erase({ session: "a" }, { within: 1 } as never)))["message"], "\"within\"")
    // In JavaScript, the other one may be there.
    const both: object = { session: undefined, principal: "a" }
    assert.deepEqual((await host.erase(both as never)).sessions, [])
    const { erasure: _, ...without } = store
    const poor = Host.make({ agent, store: without, pollMs })
    assert.include(await failure(poor.erase({ session: "a" })), { problem: "store" })
    store.close()
  })
})
