/** What a host says of sessions with something unfinished. */
import type { Entry } from "@belay/core/Inbox"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { overviewOf, type OverviewOptions } from "../../../../src/host/internal/care/overview.ts"

const now = 10_000_000
const minute = 60_000

/** When a message was stored that was due at once. A host stores it as due five seconds before. */
const sent = (ms: number): number => now - ms - 5_000

const entry = (more: Partial<Entry> = {}): Entry => ({
  sessionId: "s",
  key: "k",
  kind: "message",
  body: null,
  at: sent(minute),
  seq: 1,
  status: "waiting",
  attempts: 0,
  ...more
})

interface Stored {
  readonly entries: ReadonlyArray<Entry>
  /** When stored sessions changed, by id. Absent if the store cannot list them. */
  readonly changed?: { readonly [id: string]: number }
}

const look = async ({ changed, entries }: Stored, options: OverviewOptions = {}) => {
  const asked: Array<unknown> = []
  const list = (given: { readonly status: string; readonly limit: number }) => {
    asked.push(given)
    return Effect.succeed(entries.filter(({ status }) => status === given.status))
  }
  const sessions = changed === undefined ? {} : {
    list: (given: object) => {
      asked.push(given)
      return Effect.succeed(Object.entries(changed).map(([id, updatedAt]) => ({ id, updatedAt })))
    }
  }
  const site = { inbox: { care: { list } }, sessions, time: Effect.succeed(now) }
  return { found: await Effect.runPromise(overviewOf(site as never, options)), asked }
}

/** What is said of one session. */
const said = async (entries: ReadonlyArray<Entry>, changedAt?: number, options: OverviewOptions = {}) => {
  const { found } = await look({ entries, ...(changedAt === undefined ? {} : { changed: { s: changedAt } }) }, options)
  return found.map(({ since, state, why }) => [state, why, since - now])
}

const usage = { inputTokens: 0, outputTokens: 0 }
const asks = (...tools: ReadonlyArray<string>): NonNullable<Entry["outcome"]> => ({
  status: "suspended",
  turnNumber: 1,
  text: "",
  usage,
  pending: tools.map((tool) => ({ callId: tool, tool, args: {}, reason: "why", by: "h", fingerprint: "f" }))
})

const [begun, suspended] = [{ status: "begun" }, { status: "suspended" }] as const

describe("a session with something unfinished", () => {
  const dead = (outcome?: Entry["outcome"]) =>
    entry({ status: "dead", at: now - 7, ...(outcome === undefined ? {} : { outcome }) })
  const cases: ReadonlyArray<
    readonly [what: string, entries: ReadonlyArray<Entry>, changedAt: number | undefined, expected: unknown]
  > = [
    ["was given up", [dead({ status: "dead", attempts: 1, reason: "poison" })], undefined, ["dead", "k: poison", -7]],
    ["was given up, without a reason", [dead()], undefined, ["dead", "k: it was given up", -7]],
    ["has another outcome", [dead({ status: "cancelled" })], undefined, ["dead", "k: it was given up", -7]],
    ["is dead first", [entry(suspended), dead()], undefined, ["dead", "k: it was given up", -7]],
    [
      "asks people",
      [entry({ ...suspended, outcome: asks("mail", "pay") })],
      now - 9,
      ["waiting", "it waits for people, about mail, pay", -9]
    ],
    ["asks about nothing", [entry({ ...suspended, outcome: asks() })], now - 9, ["waiting", "it waits for people", -9]],
    [
      "asks in a session that is not listed",
      [entry({ ...suspended, at: now - 8 })],
      undefined,
      ["waiting", "it waits for people", -8]
    ],
    [
      "asks before what comes later",
      [entry({ ...suspended, at: now - 8 }), entry({ key: "later", seq: 2 })],
      undefined,
      ["waiting", "it waits for people", -8]
    ],
    [
      "was answered, and a process is about to say so",
      [entry(suspended), entry({ key: "d", kind: "decide", seq: 2, at: sent(3) }), entry({ key: "x", at: 0, seq: 3 })],
      now,
      ["waiting", "d is due", -3]
    ],
    [
      "was answered, and no process is there",
      [entry(suspended), entry({ key: "d", kind: "decide", seq: 2, at: sent(5 * minute) })],
      now,
      ["stuck", "no process has begun d", -5 * minute]
    ],
    [
      "was cancelled while people are asked",
      [entry(suspended), entry({ key: "cancel k", kind: "cancel", seq: 2, at: sent(3) })],
      now,
      ["waiting", "cancel k is due", -3]
    ],
    ["runs", [entry({ ...begun, at: now - 9 })], undefined, ["busy", "the turn of k runs", -9]],
    ["has stored something", [entry({ ...begun, at: 0 })], now - 9, ["busy", "the turn of k runs", -9]],
    ["began after that", [entry({ ...begun, at: now - 9 })], now - 99, ["busy", "the turn of k runs", -9]],
    [
      "runs before others",
      [entry({ key: "other", at: 0, seq: 2 }), entry({ ...begun, at: now - 9 })],
      undefined,
      ["busy", "the turn of k runs", -9]
    ],
    [
      "has stored nothing for just so long",
      [entry({ ...begun, at: 0 })],
      now - 5 * minute + 1,
      ["busy", "the turn of k runs", -5 * minute + 1]
    ],
    [
      "has stored nothing for too long",
      [entry({ ...begun, at: 0 })],
      now - 5 * minute,
      ["stuck", "the turn of k has stored nothing since then", -5 * minute]
    ],
    ["is due later", [entry({ at: now + 1 })], undefined, ["waiting", "k is due later", 1]],
    ["is due now", [entry({ at: now })], undefined, ["waiting", "k is due", 0]],
    ["is due since then", [entry({ at: sent(9) })], undefined, ["waiting", "k is due", -9]],
    [
      "is due for just so long",
      [entry({ at: sent(5 * minute - 1) })],
      undefined,
      ["waiting", "k is due", 1 - 5 * minute]
    ],
    [
      "is due for too long",
      [entry({ at: sent(5 * minute) })],
      undefined,
      ["stuck", "no process has begun k", -5 * minute]
    ],
    [
      "has a release that does not run",
      [entry({ at: sent(5 * minute), release: "two" })],
      undefined,
      ["stuck", "no process has begun k, and the session is pinned to the release two", -5 * minute]
    ],
    [
      "has several dead messages",
      [dead(), entry({ key: "second", status: "dead", seq: 2, at: 0 })],
      undefined,
      ["dead", "k: it was given up", -7]
    ],
    [
      "asks twice",
      [entry({ ...suspended, outcome: asks("mail") }), entry({ ...suspended, key: "second", seq: 2 })],
      now,
      ["waiting", "it waits for people, about mail", 0]
    ],
    [
      "runs with a decision",
      [entry({ ...begun, at: now - 9 }), entry({ ...begun, key: "d", kind: "decide", seq: 2, at: now })],
      undefined,
      ["busy", "the turn of k runs", -9]
    ],
    [
      "has messages of one time",
      [entry({ at: sent(9) }), entry({ key: "second", at: sent(9), seq: 2 })],
      undefined,
      ["waiting", "k is due", -9]
    ],
    [
      "has several messages",
      [entry({ at: now + 5 }), entry({ key: "first", at: sent(9), seq: 2 }), entry({ key: "last", at: now, seq: 3 })],
      undefined,
      ["waiting", "first is due", -9]
    ]
  ]

  it.each(cases)("that %s", async (_, entries, changedAt, expected) => {
    assert.deepEqual(await said(entries, changedAt), [expected as never])
  })

  it("is stuck after another time if that is wanted", async () => {
    const all = [entry({ at: sent(9) })]
    assert.deepEqual(await said(all, undefined, { stuckMs: 9 }), [["stuck", "no process has begun k", -9]])
    assert.deepEqual(await said(all, undefined, { stuckMs: 10 }), [["waiting", "k is due", -9]])
  })

  it("is shown with its entries in their order, and with its release", async () => {
    const { found } = await look({
      entries: [
        entry({ key: "c", seq: 3, at: 0, release: "two" }),
        entry({ key: "a", seq: 1, status: "begun", attempts: 2, release: "two" }),
        entry({ key: "b", seq: 2, kind: "steer", release: "two" })
      ]
    })
    assert.strictEqual(found[0]!.release, "two")
    assert.deepEqual(found[0]!.entries, [
      { key: "a", kind: "message", status: "begun", attempts: 2 },
      { key: "b", kind: "steer", status: "waiting", attempts: 0 },
      { key: "c", kind: "message", status: "waiting", attempts: 0 }
    ])
    assert.notProperty((await look({ entries: [entry()] })).found[0], "release")
  })
})

describe("the sessions of a host", () => {
  const entries = [
    entry({ sessionId: "busy", status: "begun", at: sent(3) }),
    entry({ sessionId: "young", at: sent(1) }),
    entry({ sessionId: "old", status: "suspended", at: 0 }),
    entry({ sessionId: "stuck", at: sent(5 * minute) }),
    entry({ sessionId: "dead", status: "dead", at: now }),
    entry({ sessionId: "done", status: "done" })
  ]

  it("are in the order of how much they need somebody, and then of their age", async () => {
    const { asked, found } = await look({ entries, changed: {} })
    assert.deepEqual(found.map(({ id, state }) => [id, state]), [
      ["dead", "dead"],
      ["stuck", "stuck"],
      ["old", "waiting"],
      ["young", "waiting"],
      ["busy", "busy"]
    ])
    assert.deepEqual(asked, [
      { status: "dead", limit: 1_000 },
      { status: "suspended", limit: 1_000 },
      { status: "begun", limit: 1_000 },
      { status: "waiting", limit: 1_000 },
      { ids: ["old", "busy"], limit: 2 }
    ])
  })

  it("are those with one state if that is wanted, of as many entries as are wanted", async () => {
    const { asked, found } = await look({ entries }, { state: "waiting", limit: 7 })
    assert.deepEqual(found.map(({ id }) => id), ["old", "young"])
    assert.deepEqual(asked.map((one) => Object(one).limit), [7, 7, 7, 7])
  })
})
