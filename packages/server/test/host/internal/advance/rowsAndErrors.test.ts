/** What a host takes for an outcome or an entry, and which errors are not about a message. */
import * as Outcome from "@belay/server/Outcome"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { isBroken, isOutage, isTemporary, isWrongDecision } from "../../../../src/host/internal/advance/errors.ts"
import { openEntries } from "../../../../src/host/internal/advance/readable.ts"
import { asksSame, hasMessage, outcomeOf } from "../../../../src/host/internal/advance/recognize.ts"

const usage = { inputTokens: 1, outputTokens: 2 }
const turn = { turnNumber: 1, text: "t", usage }
const pending = [{ callId: "c", tool: "x", args: {}, reason: "why" }]

/** Every outcome with all of its fields. */
const outcomes: ReadonlyArray<object> = [
  { status: "completed", ...turn },
  { status: "limited", ...turn, limit: "steps", used: 5, max: 5 },
  { status: "aborted", ...turn, by: "h", reason: "r" },
  { status: "failed", error: { _tag: "Auth", message: "m" } },
  { status: "cancelled" },
  { status: "dead", attempts: 3, reason: "r" },
  { status: "late", reason: "r" }
]

describe("an outcome in the inbox", () => {
  it("is read with all of its fields, and not if one is missing or of another type", () => {
    const read = (value: unknown) => Outcome.fromJson(value as never)
    for (const outcome of outcomes) {
      assert.deepEqual(read(outcome), outcome)
      for (const key of Object.keys(outcome)) {
        const { [key]: _, ...rest } = outcome as { readonly [key: string]: unknown }
        assert.isUndefined(read(rest), `${JSON.stringify(outcome)} without ${key}`)
        assert.isUndefined(read({ ...outcome, [key]: [] }), `${JSON.stringify(outcome)} with another ${key}`)
      }
    }
    assert.isUndefined(read({ status: "failed", error: { _tag: "Auth" } }))
    assert.isUndefined(read({ status: "failed", error: { message: "m" } }))
    assert.deepEqual(read({ status: "delivered" }), { status: "delivered" })
    assert.deepEqual(read({ status: "delivered", turnNumber: 2 }), { status: "delivered", turnNumber: 2 })
    assert.isUndefined(read({ status: "delivered", turnNumber: "2" }))
    assert.isUndefined(read({ status: "suspended", ...turn }))
    assert.isUndefined(read({ status: "suspended", ...turn, pending: [{}] }))
    for (const wrong of [undefined, null, "completed", [], {}, { status: "other" }]) assert.isUndefined(read(wrong))
  })

  it("is made of what a turn ended with", () => {
    const result = { ...turn, messages: [], sessionId: "s" }
    const of = (more: object) => Outcome.ofResult({ ...result, ...more } as never) as object
    assert.deepEqual(of({ status: "completed" }), { status: "completed", ...turn })
    assert.deepEqual(of({ status: "completed", object: 0 }), { status: "completed", ...turn, object: 0 })
    assert.deepEqual(of({ status: "suspended", pending, snapshot: "" }), { status: "suspended", ...turn, pending })
    for (const outcome of outcomes.slice(1, 3)) assert.deepEqual(of(outcome), outcome)
  })

  it("of an error has its tag or its name, and its message", () => {
    const of = (error: unknown) => Object(Outcome.ofError(error)).error
    assert.deepEqual(of({ _tag: "Auth", name: "Other", message: "m" }), { _tag: "Auth", message: "m" })
    assert.deepEqual(of(new TypeError("m")), { _tag: "TypeError", message: "m" })
    assert.strictEqual(of("text")._tag, "Error")
    assert.include(of("text").message, "text")
    assert.deepInclude(of({ _tag: 1, name: 2, message: 3 }), { _tag: "Error" })
    assert.isString(of({ message: 3 }).message)
  })
})

describe("an error of a turn", () => {
  const closed = Object.assign(new Error("closed"), { name: "AbortError" })
  const cases: ReadonlyArray<readonly [error: unknown, temporary: boolean, wrong: boolean, broken: boolean]> = [
    [closed, true, false, false],
    [{ _tag: "PortFailed", port: "store" }, true, false, false],
    [{ _tag: "PortFailed", port: "memory" }, false, false, false],
    [{ _tag: "PortFailed", port: "store", cause: { _tag: "StoreError", problem: "corrupt" } }, true, false, true],
    [{ _tag: "Other", cause: { _tag: "StoreError", problem: "corrupt" } }, false, false, false],
    [{ _tag: "SessionConflict" }, true, false, false],
    [{ _tag: "StoreError", problem: "corrupt" }, true, false, true],
    [{ _tag: "StoreError", problem: "away" }, true, false, false],
    [{ _tag: "SessionError", problem: "wrong-input" }, false, false, false],
    [{ _tag: "SessionError", problem: "closed" }, true, false, false],
    [{ _tag: "SnapshotError", problem: "wrong-decision" }, false, true, false],
    [{ _tag: "SnapshotError", problem: "not-a-snapshot" }, true, false, true],
    [{ _tag: "SnapshotError", problem: "not-json" }, true, false, true],
    [{ _tag: "SnapshotError", problem: "newer" }, true, false, false],
    [{ _tag: "Other", problem: "wrong-decision" }, false, false, false],
    [{ _tag: "Auth" }, false, false, false],
    [new Error("x"), false, false, false],
    [undefined, false, false, false]
  ]
  it.each(cases)("%o: temporary %s, about its decisions %s, for ever %s", (error, temporary, wrong, broken) => {
    assert.deepEqual([isTemporary(error), isWrongDecision(error), isBroken(error)], [temporary, wrong, broken])
  })
})

describe("an error of a store", () => {
  const error = (problem: string) => ({ _tag: "StoreError", problem })

  it.each(["full", "busy", "unreachable"])(
    "counts as an outage if the store is %s, also as the cause of another one",
    (problem) => {
      assert.isTrue(isOutage(error(problem)))
      assert.isTrue(isOutage({ _tag: "PortFailed", port: "store", cause: error(problem) }))
      assert.isFalse(isOutage({ _tag: "Error", cause: error(problem) }))
    }
  )

  it.each(["failed", "corrupt", "closed", "newer", "missing"])(
    "counts as about the message if the problem is %s",
    (problem) => {
      assert.isFalse(isOutage(error(problem)))
      assert.isFalse(isOutage({ _tag: "PortFailed", port: "store", cause: error(problem) }))
    }
  )
})

describe("the outcome of an earlier message", () => {
  const user = (content: string, key?: string) => ({ role: "user", content, ...(key === undefined ? {} : { key }) })
  const said = (content: string, more: object = {}) => ({ role: "assistant", content, ...more })
  const messages = [
    user("one", "a"),
    said("thinking", { toolCalls: [{ id: "c", name: "x", args: {} }] }),
    { role: "tool", toolCallId: "c", content: "r" },
    user("added by a hook"),
    said("first"),
    user("two", "b"),
    said("second"),
    user("three", "c"),
    user("four", "d"),
    said("last")
  ]
  const state = { input: { key: "d" }, messages, calls: [], phase: "ended", counts: {}, turnNumber: 4, usage } as never
  const of = (key: string): object | undefined => outcomeOf(state, key)

  it("is its answer, up to the next message of the host", () => {
    assert.deepInclude(of("a"), { status: "completed", text: "first", usage: { inputTokens: 0, outputTokens: 0 } })
    assert.deepInclude(of("b"), { status: "completed", text: "second" })
    assert.deepInclude(of("c"), { status: "failed" })
    assert.isUndefined(of("never sent"))
    assert.deepEqual(["a", "b", "c", "e"].map((key) => hasMessage(state, key)), [true, true, true, false])
  })

  it("waits for the same questions only if all of them are the same", () => {
    const ask = (callId: string, fingerprint: string) => ({ callId, fingerprint }) as never
    const [one, two] = [ask("a", "1"), ask("b", "2")]
    assert.isTrue(asksSame([one, two], [ask("a", "1"), ask("b", "2")]))
    for (const other of [[one], [two, one], [one, ask("b", "3")], [one, ask("c", "2")], [one, two, two]]) {
      assert.isFalse(asksSame([one, two], other))
    }
  })
})

describe("an entry of the inbox", () => {
  const entry = { sessionId: "s", key: "k", seq: 1, attempts: 2, at: 0, kind: "message", body: { message: "hi" } }
  /** Reads the entries. What is given up leaves the inbox, unless it is stuck there. */
  const read = async (entries: ReadonlyArray<object>, isStuck = false) => {
    let left = entries
    const given: Array<unknown> = []
    const inbox = {
      open: () => Effect.succeed(left),
      report: (sessionId: string, key: unknown, status: string, outcome: unknown) =>
        Effect.sync(() => {
          given.push([sessionId, status, Object(outcome).attempts, Object(outcome).reason])
          if (!isStuck) left = left.filter((one) => Object(one).key !== key)
        })
    }
    const found = Effect.runPromise(openEntries({ inbox, listeners: new Map() } as never, "s"))
    return { found: await found.catch((error: unknown) => error), given }
  }
  const wrong: ReadonlyArray<readonly [why: string, changes: object]> = [
    ["its key is not a text", { key: 7 }],
    ["it belongs to another session", { sessionId: "t" }],
    ["its number is not a number", { seq: -1 }],
    ["its number is not a number", { seq: 1.5 }],
    ["its attempts are not a number", { attempts: "2" }],
    ["its time is not a time", { at: NaN }],
    ["its time is not a time", { at: "0" }],
    ["its tenant is not a text", { tenant: 7 }],
    ["it does not name what it cancels", { kind: "cancel", body: {} }],
    ["its body is not a message", { body: null }],
    ["its body is not a message", { body: [] }],
    ["its body is not a message", { body: "hi" }],
    ["its body is not a decide", { kind: "decide", body: [] }],
    ["its body has no decisions", { kind: "decide", body: {} }],
    ["its body has no decisions", { kind: "decide", body: { c: { type: "approve" }, d: {} } }],
    ["its body has no message", { body: { message: 7 } }],
    ["its history is not a list", { body: { message: "hi", history: {} } }]
  ]

  it.each(wrong)("is given up where %s: %o", async (why, changes) => {
    const good = { ...entry, key: "good", attempts: 0 }
    const { found, given } = await read([{ ...entry, ...changes }, good])
    assert.deepEqual(found, [good])
    const attempts = "attempts" in changes ? 0 : 2
    const reason =
      `it cannot be read: ${why}. Look at the row in the store, and send the message again with another key`
    assert.deepEqual(given, [["s", "dead", attempts, reason]])
  })

  it("is used as it is where nothing is wrong, also if a newer release has written it", async () => {
    const entries = [
      { ...entry, tenant: "t" },
      { ...entry, kind: "cancel", body: "k" },
      { ...entry, kind: "decide", body: { c: { type: "approve" } } },
      { ...entry, body: { message: "", history: [] } },
      { ...entry, kind: "of tomorrow", body: null }
    ]
    assert.deepEqual(await read(entries), { found: entries, given: [] })
  })

  it("that stays although it was given up is an error with a type", async () => {
    const { found } = await read([{ ...entry, at: Infinity }], true)
    assert.deepInclude(found, { _tag: "HostError", problem: "store", sessionId: "s" })
    assert.match(Object(found).message, /^session s has an entry .*: its time is not a time$/)
  })
})
