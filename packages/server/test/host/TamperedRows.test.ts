/** Rows that somebody has changed end in an error with a type and in a dead letter, and never keep a host busy. */
import { createAgent } from "@belay/core/createAgent"
import * as EventLog from "@belay/core/EventLog"
import * as Inbox from "@belay/core/Inbox"
import * as SessionStore from "@belay/core/SessionStore"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Host from "@belay/server/Host"
import * as SeededRandom from "@belay/testing/SeededRandom"
import * as Effect from "effect/Effect"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "vitest"
import { newFile, planner, pollMs, tool } from "./support/hosted.ts"

/** What nobody but a fault or an attacker writes. */
const values: ReadonlyArray<unknown> = [
  null,
  0,
  -1,
  1.5,
  2 ** 60,
  NaN,
  Infinity,
  "",
  "x",
  "__proto__",
  true,
  [],
  {},
  [null],
  { a: 1 },
  { message: 1 },
  { message: "hi", history: 7 },
  { message: "hi", history: [null] },
  { message: "hi", attachments: "no" },
  undefined
]

/** Texts of Effect that nobody should read. */
const internals =
  /SchemaError|FiberFailure|\(Fiber|Cause\(|"_tag":"(?:Fail|Die|Reason)|effect\/(?:dist|src)|\n\s+at \S+ \(/

/** Calls everything that reads a session. Every error has the type of the host. */
const readAll = async (host: Host.Host, sessionId: string, key: string) => {
  const signal = AbortSignal.timeout(2_000)
  const calls: ReadonlyArray<() => PromiseLike<unknown>> = [
    () => host.advance(sessionId),
    () => host.advance(sessionId),
    () => host.status(sessionId, key),
    () => host.conversation(sessionId),
    () => host.list(),
    () => host.activity(),
    () => host.advance(sessionId)
  ]
  for (const call of calls) {
    const error = await Promise.resolve(call()).then(() => undefined, (error: unknown) => error)
    if (error === undefined) continue
    assert.strictEqual(Object(error)._tag, "HostError")
    assert.notMatch(Object(error).message, internals)
  }
  const status = await Promise.resolve(host.status(sessionId, key)).catch(() => undefined)
  if (status === undefined || status.status === "done" || status.status === "dead") {
    const error = await Promise.resolve(host.result(sessionId, key, { signal })).then(() => undefined, (error) => error)
    assert.include([undefined, "HostError"], Object(error)._tag)
  }
  return status
}

const agentOf = (sessions: SessionStore.SessionStore) =>
  createAgent({ provider: planner(), store: sessions, tools: [tool("bomb", [])], log: false })

describe("a row of the inbox in memory", () => {
  it("that is wrong in any field ends in a dead letter or an error with a type", async () => {
    const random = SeededRandom.random(7)
    const fields = ["body", "attempts", "at", "tenant", "status", "kind", "key", "seq", "sessionId", "outcome"]
    for (let n = 0; n < 150; n++) {
      const memory = Inbox.inMemory()
      const field = fields[n % fields.length]!
      const value = random.pick(values)
      // Only rows that are not finished are changed, as those that a host reads again and again.
      const inbox: Inbox.Inbox = {
        ...memory,
        open: (id) =>
          Effect.map(
            memory.open(id),
            (all) => all.map((entry) => entry.key === "k" ? { ...entry, [field]: value } as Inbox.Entry : entry)
          )
      }
      const sessions = SessionStore.inMemory()
      const agent = agentOf(sessions)
      const host = Host.make({ agent, store: { sessions, inbox, events: EventLog.inMemory() }, pollMs, maxAttempts: 2 })
      await host.send("s", "good", { key: "k" })
      const status = await readAll(host, "s", "k")
      if (field === "body" || field === "attempts") {
        assert.include(["dead", "done"], status?.status, `${field} ${String(value)}`)
      }
      await agent.close()
    }
  })
})

describe("a decision or a cancellation in the inbox", () => {
  const bodies: ReadonlyArray<readonly [Inbox.Kind, unknown, boolean]> = [
    ["decide", {}, true],
    ["decide", { c: { type: "approve" } }, false],
    ["decide", { c: { type: "approve" }, d: "yes" }, true],
    ["decide", { c: { type: "maybe" } }, true],
    ["decide", [{ type: "approve" }], true],
    ["cancel", { key: "k" }, true],
    ["cancel", "another key", false]
  ]
  it.for(bodies)("of the kind %s with the body %j is given up: %s", async ([kind, body, isDead]) => {
    const [inbox, sessions] = [Inbox.inMemory(), SessionStore.inMemory()]
    const agent = agentOf(sessions)
    const host = Host.make({ agent, store: { sessions, inbox }, pollMs })
    await Effect.runPromise(inbox.add({ sessionId: "s", key: "k", kind, body: body as never, at: 0 }))
    await host.advance("s")
    const status = await host.status("s", "k")
    assert.strictEqual(status?.status, isDead ? "dead" : "done")
    if (isDead) assert.match(JSON.stringify(status?.outcome), /it cannot be read: it/)
    await agent.close()
  })
})

/** Every column of the tables that a host reads, and what somebody may have written there. */
const tampered: ReadonlyArray<readonly [table: string, column: string, value: string]> = [
  ...["null", "7", "\"x\"", "[]", "{}", "{", "", "{\"message\":1}", "{\"message\":\"hi\",\"history\":{}}"].flatMap((
    text
  ) =>
    [["inbox", "body", text], ["inbox", "outcome", text], ["inbox", "tenant", text], ["inbox", "key", text]] as const
  ),
  ...["9007199254740993", "9223372036854775807", "-1"].map((number) => ["inbox", "attempts", number] as const),
  ...["1e400", "-1e400", "9e15"].map((number) => ["inbox", "at", number] as const),
  ...["", "unknown", "begun", "suspended"].map((text) => ["inbox", "status", text] as const),
  ...["", "unknown", "decide", "cancel", "steer"].map((text) => ["inbox", "kind", text] as const),
  ...["null", "7", "[]", "{}", "{", "", "{\"version\":99}", "{\"version\":3}"].map((text) =>
    ["sessions", "state", text] as const
  ),
  ...["9223372036854775807", "-1"].flatMap((number) =>
    [["sessions", "revision", number], ["sessions", "messages", number]] as const
  ),
  ...["null", "7", "{}", "{", "{\"role\":\"user\"}"].map((text) => ["messages", "message", text] as const),
  ...["null", "7", "[]", "{", "{\"events\":[null]}", "{\"events\":[{\"event\":{\"seq\":\"x\"}}]}"].map((text) =>
    ["events", "body", text] as const
  )
]

describe("a row of SQLite", () => {
  it.for(tampered)(
    "of %s with the %s %s ends in a dead letter or an error with a type",
    async ([table, column, value]) => {
      const path = newFile()
      const store = SqliteStore.make({ path })
      const agent = agentOf(store.sessions)
      const host = Host.make({ agent, store, pollMs, maxAttempts: 2 })
      await host.send("s", "good", { key: "first" })
      await host.advance("s")
      await host.send("s", "good", { key: "k" })
      const database = new DatabaseSync(path)
      const isNumber = /^-?\d+(?:e\d+)?$/.test(value) && ["attempts", "at", "revision", "messages"].includes(column)
      database.exec(
        `UPDATE ${table} SET ${column} = ${isNumber ? value : `'${value}'`}` +
          (table === "inbox" ? " WHERE finished_at IS NULL" : "")
      )
      database.close()
      const other = agentOf(store.sessions)
      const reader = Host.make({ agent: other, store, pollMs, maxAttempts: 2 })
      const status = await readAll(reader, "s", "k")
      const isOfMessage = (table === "inbox" && (column === "body" || column === "attempts")) || table === "messages"
      if (isOfMessage && status !== undefined) assert.include(["dead", "done"], status.status)
      const stop = new AbortController()
      const reading = (async () => {
        for await (const _event of reader.events("s", { signal: stop.signal })) continue
      })().catch((error: unknown) => assert.strictEqual(Object(error)._tag, "HostError"))
      await Effect.runPromise(Effect.sleep(4 * pollMs))
      stop.abort()
      await reading
      await agent.close()
      await other.close()
      store.close()
    }
  )

  it("of a session that has moved to itself, or in a circle, does not hold up its messages", async () => {
    for (const circle of [["s"], ["s", "t"], ["s", "t", "u"]]) {
      const path = newFile()
      const store = SqliteStore.make({ path })
      const agent = agentOf(store.sessions)
      const host = Host.make({ agent, store, pollMs })
      for (const id of circle) {
        await host.send(id, "good", { key: "first" })
        await host.advance(id)
      }
      const database = new DatabaseSync(path)
      for (const [index, id] of circle.entries()) {
        const moved = JSON.stringify({ from: id, to: circle[(index + 1) % circle.length] })
        database.prepare("UPDATE sessions SET state = json_set(state, '$.movedTo', json(?)) WHERE id = ?").run(
          moved,
          id
        )
      }
      database.close()
      const other = agentOf(store.sessions)
      const reader = Host.make({ agent: other, store, pollMs })
      await reader.send("s", "good", { key: "k" })
      await reader.advance("s")
      assert.deepInclude(await reader.result("s", "k"), { status: "completed" })
      assert.isDefined(await reader.conversation("s"))
      await agent.close()
      await other.close()
      store.close()
    }
  })
})
