/** Which decisions of people are still to be applied. */
import { assert, describe, it } from "vitest"
import { hasAsked, stillAsked } from "../../../src/host/internal/advance/decisions.ts"

const ask = (callId: string, fingerprint = "f") => ({ callId, fingerprint, tool: "t", args: {}, reason: "r", by: "h" })
const yes = { type: "approve" } as const
const ids = (decisions: object | undefined) => decisions === undefined ? undefined : Object.keys(decisions)

const call = (id: string, more: object = { status: "pending" }) => ({ call: { id, name: "t", args: {} }, ...more })
const step = (...calls: ReadonlyArray<object>) => ({ calls, counts: {}, phase: "dispatching" }) as never

describe("decisions that were not begun", () => {
  const of = (given: ReadonlyArray<string>, pending: ReadonlyArray<string>, state?: never) => {
    const body = Object.fromEntries(given.map((id) => [id, yes]))
    const entry = { body, status: "waiting" } as never
    return ids(stillAsked(entry, { pending: pending.map((id) => ask(id)) } as never, state))
  }
  const state = step(call("a"), call("b"), call("lead", { status: "done" }))

  it("are applied as they are while all of them are asked", () => {
    assert.deepEqual(of(["a", "b"], ["a", "b"], state), ["a", "b"])
    assert.deepEqual(of(["a", "b"], ["b", "a", "c"]), ["a", "b"])
  })

  it("lose those that an earlier entry has answered: calls of the step, and of a sub-agent that ended", () => {
    assert.deepEqual(of(["a", "b"], ["b"], state), ["b"])
    assert.deepEqual(of(["lead/x", "b"], ["b"], state), ["b"])
    assert.deepEqual(of(["lead", "b"], ["b"], state), ["b"])
  })

  it("keep those that are about no call of the step, so that the error names them", () => {
    assert.deepEqual(of(["unknown", "b"], ["b"], state), ["unknown", "b"])
    assert.deepEqual(of(["leader/x", "b"], ["b"], state), ["leader/x", "b"])
    assert.deepEqual(of(["a/x", "b"], ["b"], state), ["a/x", "b"])
    assert.deepEqual(of(["a", "b"], ["b"]), ["a", "b"])
  })

  it("stay if all of them were answered", () => {
    assert.deepEqual(of(["a"], ["b"], state), ["a"])
    assert.deepEqual(of(["a", "unknown"], ["b"], state), ["a", "unknown"])
  })
})

describe("decisions that a process has begun to apply", () => {
  const body = { a: yes, b: yes }
  const of = (outcome: unknown, pending: ReadonlyArray<object>) =>
    ids(stillAsked({ body, status: "begun", outcome } as never, { pending } as never))

  it("are applied again to the same questions only", () => {
    const asked = [{ callId: "a", fingerprint: "f" }, { callId: "b", fingerprint: "old" }]
    assert.deepEqual(of({ asked }, [ask("a"), ask("b")]), ["a"])
    assert.deepEqual(of({ asked }, [ask("a"), ask("b", "old")]), ["a", "b"])
    assert.isUndefined(of({ asked }, [ask("c")]))
    assert.isUndefined(of({ asked: [{ callId: "b", fingerprint: "f" }] }, [ask("a")]))
    assert.isUndefined(of({ asked: [{ callId: "a", fingerprint: "f" }] }, [ask("a", "new")]))
    for (const outcome of [null, undefined, {}, { asked: [] }]) assert.isUndefined(of(outcome, [ask("a")]))
  })
})

describe("the questions of a stored outcome", () => {
  const usage = { inputTokens: 0, outputTokens: 0 }
  const of = (outcome: unknown) => hasAsked({ outcome } as never, [ask("a")] as never)

  it("are those that are asked now, or others", () => {
    const suspended = { status: "suspended", turnNumber: 1, text: "", usage }
    assert.isTrue(of({ ...suspended, pending: [ask("a")] }))
    assert.isFalse(of({ ...suspended, pending: [ask("a", "other")] }))
    assert.isFalse(of({ ...suspended, pending: [] }))
    assert.isFalse(of({ status: "cancelled" }))
    assert.isFalse(of(undefined))
  })
})
