/** Which decisions count for a question. */
import { assert, describe, it } from "@effect/vitest"
import type { Decision, PendingAsk } from "../../../../src/data/RunState.ts"
import { countedAt, whyNotCounted } from "../../../../src/guard/internal/state/decision.ts"

const question = (more: Partial<PendingAsk> = {}): PendingAsk => ({
  callId: "c",
  tool: "deploy",
  args: {},
  by: "gate",
  reason: "sure?",
  fingerprint: "deploy {}",
  ...more
})

const approve: Decision = { type: "approve" }

describe("a decision", () => {
  it("counts until the question expires, and not at that moment", () => {
    const ask = question({ expiresAt: 1_000 })
    assert.strictEqual(countedAt(ask, approve, 999), approve)
    const reason = "the question about deploy expired before anybody decided"
    assert.deepStrictEqual(countedAt(ask, approve, 1_000), { type: "deny", reason })
    assert.deepStrictEqual(countedAt(ask, approve, 1_001), { type: "deny", reason })
    assert.strictEqual(countedAt(question(), approve, Number.MAX_SAFE_INTEGER), approve)
  })

  it("of somebody without a name does not count where names are listed, whatever it is", () => {
    const ask = question({ approvers: ["ada"] })
    const decisions: ReadonlyArray<Decision> = [
      approve,
      { type: "deny", reason: "no" },
      { type: "edit", args: {} },
      { type: "respond", output: 1 },
      { type: "delegate", to: ["eve"] }
    ]
    for (const decision of decisions) {
      assert.strictEqual(
        whyNotCounted(ask, decision),
        "somebody without a name may not decide about deploy, only ada"
      )
      assert.match(String(whyNotCounted(ask, { ...decision, by: "eve" })), /^eve may not decide about deploy/)
      assert.strictEqual(whyNotCounted(ask, { ...decision, by: "ada" }), undefined)
    }
  })

  it("of anybody does not count where nobody is listed", () => {
    for (const decision of [approve, { ...approve, by: "ada" }]) {
      assert.match(String(whyNotCounted(question({ approvers: [] }), decision)), /may not decide about deploy/)
    }
  })

  it("in a name that Belay uses itself does not count, and neither does one in an empty name", () => {
    for (const by of ["rule", " rule ", "policy", "person", "runtime", "hook", "host", "*"]) {
      for (const ask of [question(), question({ quorum: 2 }), question({ approvers: [by] })]) {
        const why = `"${by.trim()}" is a name that Belay uses itself: decide in the name of a person`
        assert.strictEqual(whyNotCounted(ask, { ...approve, by }), why)
        assert.strictEqual(whyNotCounted(ask, { type: "delegate", by: "ada", to: [by] }) === undefined, false)
      }
    }
    for (const by of ["", "  "]) assert.match(String(whyNotCounted(question(), { ...approve, by })), /is empty/)
  })

  it("cannot delegate to fewer people than still have to approve", () => {
    const ask = question({ quorum: 3, approved: ["ada"] })
    for (const to of [[], ["bob"], ["bob", "bob"], ["bob", "ada"]]) {
      assert.match(String(whyNotCounted(ask, { type: "delegate", to })), /needs 2 more approvals/)
    }
    assert.isUndefined(whyNotCounted(ask, { type: "delegate", to: ["bob", "eve"] }))
    assert.match(String(whyNotCounted(question(), { type: "delegate", to: [] })), /needs 1 more approvals/)
  })
})
