/** What a host takes for an outcome, and which errors are not about a message. */
import * as Outcome from "@belay/host/Outcome"
import { assert, describe, it } from "vitest"
import { isBroken, isTemporary, isWrongDecision } from "../../src/internal/errors.ts"
import { asksSame, hasMessage, outcomeOf } from "../../src/internal/recognize.ts"

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
    assert.isTrue(hasMessage(state, "b"))
    assert.isFalse(hasMessage(state, "e"))
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
