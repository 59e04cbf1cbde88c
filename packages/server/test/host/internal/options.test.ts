/** What hosts and engines say about wrong options and wrong calls, and what right calls add to the inbox, to the letter. */
import { createAgent } from "@belay/core/createAgent"
import * as Inbox from "@belay/core/Inbox"
import * as SessionStore from "@belay/core/SessionStore"
import * as ClusterEngine from "@belay/server/ClusterEngine"
import * as Host from "@belay/server/Host"
import * as LocalEngine from "@belay/server/LocalEngine"
import * as PgBossEngine from "@belay/server/PgBossEngine"
import * as Scripted from "@belay/testing/Scripted"
import { describe, expect, it } from "vitest"

const sessions = SessionStore.inMemory()
const agent = createAgent({ provider: Scripted.make([]), store: sessions, log: false })

/** A store that notes what is added. */
const store = (log: Array<string> = []) => {
  const inbox = Inbox.inMemory()
  const add: Inbox.Inbox["add"] = (entry, capacity) => {
    const { at, ...rest } = entry
    const time = at === 0 || at > 1e12 ? {} : { at }
    log.push(`  added ${JSON.stringify({ ...rest, ...time })}${capacity === undefined ? "" : JSON.stringify(capacity)}`)
    return inbox.add(entry, capacity)
  }
  return { sessions, inbox: { ...inbox, add } }
}

const shown = (value: unknown) =>
  JSON.stringify(value, (_, one: unknown) => one === undefined ? "nothing" : one) ?? "nothing"

/** What each of these options leads to. */
const made = (make: (options: never) => object, all: ReadonlyArray<unknown>): ReadonlyArray<string> =>
  all.map((options) => {
    try {
      return `${shown(options)}: ${Object(make(options as never)).name ?? "made"}`
    } catch (error) {
      return `${shown(options)}: ${String(error)}`
    }
  })

const each = (base: object, name: string, ...values: ReadonlyArray<unknown>) =>
  values.map((value) => ({ ...base, [name]: value }))

const numbers = (base: object, ...names: ReadonlyArray<string>) =>
  names.flatMap((name) => each(base, name, 0, 1, 2, 3, 1.5, "3"))

const prefixes = ["", "a", "a_1", "A", "1a", "a-b", "a".repeat(40), "a".repeat(41), 1]

const same = (name: string, lines: ReadonlyArray<string>) =>
  expect(`${lines.join("\n")}\n`).toMatchFileSnapshot(`../support/told/${name}.txt`)

describe("options", () => {
  it("of engines are checked exactly like this", async () => {
    const url = "postgres://u@h:1/n"
    const urls = ["", "x", "http://h", "postgres://h", "postgresql://h/n", "mypostgres://h", 1]
    const pool = { query: () => Promise.resolve({ rows: [] }) }
    const [cluster, boss, local] = [
      made(ClusterEngine.make, [
        {},
        ...urls.map((one) => ({ url: one })),
        ...prefixes.map((prefix) => ({ url, prefix })),
        ...numbers({ url }, "maxConnections", "concurrency", "pollMs"),
        { url, ssl: true, other: 1 }
      ]),
      made(PgBossEngine.make, [
        {},
        ...urls.map((one) => ({ url: one })),
        { url, pool },
        { pool },
        { pool: {} },
        { pool: 1 },
        ...prefixes.flatMap((name) => [{ url, schema: name }, { url, queue: name }]),
        ...numbers({ url }, "maxConnections", "concurrency"),
        { url, other: 1 }
      ]),
      made(LocalEngine.make, [{}, { inbox: 1 }, { inbox: {} }, { inbox: store().inbox, pollMs: 0 }, {
        inbox: store().inbox,
        concurrency: "1"
      }, { inbox: {}, pollMs: "1" }])
    ]
    await same("engines", ["# cluster", ...cluster, "", "# pg-boss", ...boss, "", "# local", ...local])
  })

  it("of hosts are checked exactly like this", async () => {
    const right = { agent, store: store() }
    const wrong = [
      ["agent", 1, {}, createAgent({ provider: Scripted.make([]), log: false })],
      ["store", 1, {}, { sessions }, { sessions, inbox: {} }, { sessions: {}, inbox: store().inbox }],
      ["store", { ...store(), events: 1 }, { ...store(), erasure: {} }],
      ["engine", 1, {}, { wake: () => 0 }, { start: () => 0 }],
      ["capacity", 1, {}, { inAll: 0 }, { perTenant: 0 }, { perSession: 1.5 }, { inAll: "1" }, { other: 1 }],
      ["other", 1]
    ] as const
    const lines = [
      ...wrong.flatMap(([name, ...values]) =>
        values.map((value, index) => {
          const [line] = made(Host.make, [{ ...right, [name]: value }])
          return `${name} ${index}: ${line!.replace(/^.*?\}: (?=\w*Error|made)/s, "")}`
        })
      ),
      ...["maxAttempts", "pollMs", "concurrency"].flatMap((name) =>
        [0, 1, 1.5, "1"].map((value) => {
          const [line] = made(Host.make, [{ ...right, [name]: value }])
          return `${name} ${String(value)}: ${line!.replace(/^.*?\}: (?=\w*Error|made)/s, "")}`
        })
      )
    ]
    await same("hosts", lines)
  })
})

describe("calls of a host", () => {
  it("add exactly this, and say exactly this when they are wrong", async () => {
    const log: Array<string> = []
    const host = Host.make({ agent, store: store(log), capacity: { perSession: 40 } })
    const call = async (name: keyof Host.Host, ...args: ReadonlyArray<unknown>) => {
      const line = `${name} ${args.map(shown).join(" ")}`
      log.push(line.length > 200 ? `${line.slice(0, 200)}…` : line)
      const act = host[name] as (...all: ReadonlyArray<unknown>) => PromiseLike<unknown>
      try {
        log.push(`  ${shown(await act(...args))}`)
      } catch (error) {
        const { key, limit, message, problem, sessionId } = Object(error) as { readonly [field: string]: unknown }
        log.push(`  ${shown({ problem, sessionId, key, limit })} ${String(message)}`)
      }
    }
    const key = "k"
    for (const id of ["s", "", "-a", "a b", "a".repeat(128), "a".repeat(129), 1]) {
      await call("send", id, "hello", { key })
    }
    for (
      const options of [
        { key: "at", at: 5 },
        { key: "date", at: new Date(7) },
        { key: "wrong", at: "x" },
        { key: "wrong", at: Object.create(null) },
        { key: "queue", mode: "queue" },
        { key: "steer", mode: "steer" },
        { key: "mode", mode: "other" },
        { key: "tenant", tenant: "t" },
        { key: "tenant", tenant: 1 },
        { key: "" },
        { key: 1 },
        { key: "cancel x" },
        { other: 1 },
        { key: "history", history: [{ role: "user", content: "before" }] },
        { key: "history2", history: [{ role: "nobody" }] },
        { key: "history3", history: [{ role: "tool", toolCallId: "c", toolName: "t", content: "x" }] },
        { key: "history4", history: [] }
      ]
    ) await call("send", "s", "hello", options)
    for (
      const [index, message] of [
        { message: "object" },
        { message: "m", key: "own", part: "p", steer: true, instructions: "i" },
        { message: 1 },
        {},
        null,
        7
      ].entries()
    ) await call("send", "s", message, { key: `m${index}` })
    for (
      const decisions of [
        { c1: { type: "approve" } },
        { c1: { type: "other" } },
        { c1: { type: "approve" }, c2: 1 },
        {},
        null,
        "x"
      ]
    ) await call("decide", "s", decisions, { key: "d" })
    await call("decide", "s", { c1: { type: "approve" } }, { key: "cancel d" })
    await call("decide", "a b", { c1: { type: "approve" } }, { key: "d" })
    await call("decide", "s", { c1: { type: "approve" } }, { other: 1 })
    await call("cancel", "s", "k")
    for (const name of ["cancel", "result", "status"] as const) {
      for (const [id, one] of [[1, "k"], ["s", 1], ["s", undefined]]) await call(name, id, one)
    }
    await call("status", "s", "k")
    await call("status", "s", "nothing")
    await call("result", "s", "nothing")
    await call("advance", 1)
    for (const id of ["s", "nothing", "a b", 1]) await call("conversation", id)
    await call("list")
    await same("calls", log)
  })

  it("say where the events cannot begin", async () => {
    const host = Host.make({ agent, store: store() })
    const failure = async (id: string, after?: unknown) => {
      try {
        const options = { signal: AbortSignal.timeout(5), ...(after === undefined ? {} : { after: after as string }) }
        for await (const _ of host.events(id, options));
        return "none"
      } catch (error) {
        return String(Object(error).message)
      }
    }
    const wrong = "after: expected the id of an event"
    expect(await Promise.all([failure("s", "x"), failure("s", 1), failure("a b"), failure("s")])).toEqual([
      wrong,
      wrong,
      "the session id must be 1 to 128 letters, digits, \"_\", \"-\" or \".\", and begin with a letter or digit",
      "none"
    ])
  })
})
