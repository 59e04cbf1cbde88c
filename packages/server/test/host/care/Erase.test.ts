/** What is left of a person after they were erased. */
import { agentTool } from "@belay/core/agentTool"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import type { EventLog } from "@belay/core/EventLog"
import * as HookAction from "@belay/core/HookAction"
import { fingerprint } from "@belay/core/HookChain"
import { textResponse } from "@belay/core/LlmCall"
import { fromPromise, type LlmProvider } from "@belay/core/LlmProvider"
import { text } from "@belay/core/Message"
import type { Commit } from "@belay/core/SessionStore"
import { Budget } from "@belay/hooks"
import * as PostgresStore from "@belay/providers/PostgresStore"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Host from "@belay/server/Host"
import * as OpenAiChat from "@belay/server/OpenAiChat"
import * as Serve from "@belay/server/Serve"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import pg from "pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type PostgresServer, startPostgres } from "../../../../../test/support/postgres.ts"
import { failure, gate, newFile, planner, pollMs, tool } from "../support/hosted.ts"

const person = "ada.lovelace.1815@example.org"

type Store = SqliteStore.SqliteStore | PostgresStore.PostgresStore

/** A model that calls `work` or `help` once, or asks for what needs a person, and then answers with the mail address. */
const model = (name: "lead" | "helper"): LlmProvider =>
  fromPromise({
    name,
    complete: async ({ messages }) => {
      const last = messages.at(-1)!
      const whose = messages.some((message) => text(message).includes(person)) ? person : "bob"
      if (last.role === "tool") return textResponse(`done for ${whose}`)
      const tool = name === "helper" ? "work" : text(last).includes("bomb") ? "bomb" : "help"
      const args = tool === "help" ? { message: whose } : { mail: whose }
      return { ...textResponse(""), finishReason: "tool-calls", toolCalls: [{ id: "c1", name: tool, args }] }
    }
  })

const agentOf = (store: Store) => {
  const work = defineTool({
    name: "work",
    description: "Works",
    input: { type: "object" },
    execute: async (args, { artifacts }) => {
      await artifacts.write("notes", `about ${JSON.stringify(args)}`)
      return `worked for ${JSON.stringify(args)}`
    }
  })
  const bomb = defineTool({ name: "bomb", description: "Asks", input: { type: "object" }, execute: () => "boom" })
  const helper = createAgent({
    name: "helper",
    provider: model("helper"),
    artifacts: store.artifacts,
    tools: [work],
    log: false
  })
  return createAgent({
    name: "lead",
    provider: model("lead"),
    store: store.sessions,
    artifacts: store.artifacts,
    records: true,
    tools: [agentTool({ name: "help", description: "Helps", agent: helper }), bomb],
    hooks: [
      { name: "asks", preToolCall: ({ name }) => name === "bomb" ? HookAction.ask(`sure, ${person}?`) : undefined },
      Budget.make({
        ledger: store.ledger,
        limits: [{
          scope: "tenant",
          calls: 1_000,
          key: ({ message }) => String(message).includes(person) ? person : "bob"
        }, { scope: "session", calls: 100 }]
      })
    ],
    log: false
  })
}

/** Standing approvals that the person has given, or that have them in the arguments. */
const rulesOfPerson = [
  { hook: "asks", tool: "bomb", approvedBy: ["bob", person] },
  { hook: "asks", tool: "bomb", fingerprint: fingerprint("bomb", { to: [`<${person}>`] }) }
]
const ruleOfAll = { hook: "asks", tool: "bomb", approvedBy: ["bob"], fingerprint: fingerprint("bomb", { to: "all" }) }

/** Lets a person leave as much as possible in a store: two sessions, one with an open question, one not begun. */
const live = async (store: Store) => {
  const agent = agentOf(store)
  const host = Host.make({ agent, store, pollMs })
  const running = await host.start()
  const done = await host.send("ada", `hello from ${person}`, { tenant: person })
  assert.strictEqual((await host.result("ada", done.key)).status, "completed")
  const asked = await host.send("ada2", `bomb for ${person}`, { tenant: person })
  assert.strictEqual((await host.result("ada2", asked.key)).status, "suspended")
  await host.send("ada3", `later ${person}`, { at: Date.now() + 3_600_000, tenant: person })
  for (const rule of [...rulesOfPerson, ruleOfAll]) await Effect.runPromise(store.rules.add(rule))
  const other = await host.send("bob", "hello from bob", { tenant: "bob" })
  assert.strictEqual((await host.result("bob", other.key)).status, "completed")
  return { agent, host, running, other }
}

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

/** What a process that was frozen meanwhile would still store. */
const checkFrozen = async (store: Store): Promise<void> => {
  const run = Effect.runPromise
  const commitOf = (sessionId: string, revision: number): Commit => {
    const messages = [{ role: "user", content: person } as const]
    const state: Commit["state"] = {
      version: 3,
      sessionId,
      revision,
      turnNumber: 1,
      stepNumber: 1,
      coreType: "tool-loop",
      input: { message: person },
      phase: "ended",
      calls: [],
      injections: [],
      usage: { inputTokens: 0, outputTokens: 0 },
      counts: { llmCalls: 0, toolCalls: 0, followUps: 0, elapsedMs: 0 },
      hookState: {}
    }
    return { sessionId, revision, from: 0, messages, state, records: [], snapshot: () => ({ ...state, messages }) }
  }
  const events = (sessionId: string, begins?: number) =>
    store.events.write([{
      sessionId,
      rows: [{ first: 5, last: 6, body: person }],
      ...(begins === undefined ? {} : { begins })
    }], { keepMs: 0 })
  for (const revision of [1, 2]) await run(store.sessions.commit(commitOf("eve", revision)))
  await run(store.erasure.erase(await run(store.erasure.find({ session: "eve" })), []))
  const refused: ReadonlyArray<readonly [id: string, revision: number]> = [["eve", 3], ["eve-r2", 1], [
    "eve.0123456789abcd",
    1
  ]]
  for (const [id, revision] of refused) {
    assert.deepInclude(await failure(run(store.sessions.commit(commitOf(id, revision)))), { _tag: "SessionConflict" })
  }
  await run(events("eve"))
  await run(events("eve", 5))
  assert.deepEqual((await run(store.events.read("eve", { limit: 9, after: 0 }))).rows, [])
  const write = store.artifacts.write("eve", "notes", person, { by: "t" })
  assert.deepInclude(await failure(run(write)), { _tag: "StoreError", problem: "missing" })
  // Somebody begins anew.
  await run(store.sessions.commit(commitOf("eve", 1)))
  await run(store.sessions.commit(commitOf("eve-r2", 1)))
  await run(events("eve", 5))
  assert.lengthOf((await run(store.events.read("eve", { limit: 9, after: 0 }))).rows, 1)
  assert.deepInclude(await run(store.artifacts.write("eve", "notes", "new", { by: "t" })), { size: 3 })
  // A session that was removed, and not erased, is stored again by who has it.
  await run(store.sessions.remove("eve-r2"))
  await run(store.sessions.commit(commitOf("eve-r2", 2)))
}

describe("erasing a person from Postgres", () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.dispose())

  it("stores nothing of an erased session that a frozen process still has", async () => {
    const store = PostgresStore.make({ url: server.url, schema: "frozen" })
    await checkFrozen(store)
    await store.close()
  })

  it("takes what others are writing at the same time", async () => {
    const store = PostgresStore.make({ url: server.url, schema: "meanwhile" })
    const run = Effect.runPromise
    const other = new pg.Client({ connectionString: server.url })
    await other.connect()
    const others = async (...texts: ReadonlyArray<string>) => {
      for (const text of texts) await other.query(text)
    }
    const write = () =>
      run(store.events.write([{ sessionId: "eve", rows: [{ first: 1, last: 1, body: person }] }], { keepMs: 0 }))
    const rows = async () => (await run(store.events.read("eve", { after: 0, limit: 9 }))).rows.length
    const first = (done: Promise<unknown>) =>
      Promise.race([done.then(() => "done"), run(Effect.as(Effect.sleep(200), "waits"))])
    await write()
    assert.strictEqual(await rows(), 1)
    await run(store.sessions.remove("eve"))

    // Another process has written, and has not committed yet.
    await others(
      "BEGIN",
      "INSERT INTO meanwhile.event_logs VALUES ('eve', 0, 1, 1)",
      `INSERT INTO meanwhile.events VALUES ('eve', 1, 1, '"${person}"', 1)`
    )
    const erased = run(store.erasure.erase(["eve"], []))
    assert.strictEqual(await first(erased), "waits")
    await others("COMMIT")
    assert.strictEqual((await erased).events, 1)
    assert.strictEqual(await rows(), 0)

    // Another process erases, and has not committed yet.
    await others(
      "ALTER TABLE meanwhile.erased RENAME TO known",
      "CREATE TABLE meanwhile.erased (hash text PRIMARY KEY)",
      "BEGIN",
      "LOCK TABLE meanwhile.artifacts, meanwhile.event_logs IN SHARE ROW EXCLUSIVE MODE",
      "INSERT INTO meanwhile.erased SELECT hash FROM meanwhile.known"
    )
    const written = write()
    assert.strictEqual(await first(written), "waits")
    await others("COMMIT")
    await written
    assert.strictEqual(await rows(), 0)
    assert.strictEqual((await other.query("SELECT 1 FROM meanwhile.event_logs")).rowCount, 0)
    await other.end()
    await store.close()
  })

  it("leaves no row with them in any table", async () => {
    const store = PostgresStore.make({ url: server.url, schema: "erased" })
    const { agent, host, running } = await live(store)
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    const rows = async () => {
      const { rows: tables } = await client.query("SELECT tablename FROM pg_tables WHERE schemaname = 'erased'")
      const found: Array<string> = []
      for (const { tablename } of tables) {
        const sql = `SELECT count(*)::int AS n FROM erased.${tablename} AS one WHERE one::text LIKE '%${person}%'`
        if ((await client.query(sql)).rows[0].n > 0) found.push(tablename)
      }
      return found
    }
    assert.isAbove((await rows()).length, 5)
    const receipt = await host.erase({ principal: person })
    assert.deepEqual(await rows(), [])
    assert.deepEqual(receipt.sessions, ["ada", "ada2", "ada3"])
    assert.deepEqual((await host.list()).map(({ id }) => id), ["bob"])
    assert.strictEqual(receipt.approvals, 2)
    assert.deepEqual(await Effect.runPromise(store.rules.load), [ruleOfAll])
    await client.end()
    await running.drain()
    await agent.close()
    await store.close()
  })
})
