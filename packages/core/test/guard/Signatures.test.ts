/** What a signature of a decision covers. */
import { assert, describe, it } from "vitest"
import type { PendingAsk } from "../../src/data/RunState.ts"
import { type Answer, isSignedDecision, signDecision } from "../../src/guard/internal/state/signature.ts"

const key = { id: "k", secret: "not-a-secret" }
const ask: PendingAsk = {
  callId: "c1",
  tool: "pay",
  args: { amount: 5 },
  by: "guard",
  reason: "really?",
  fingerprint: "f",
  nonce: "n",
  expiresAt: 5_000
}
const answer: Answer = {
  question: { sessionId: "s", turnNumber: 1, ask },
  decision: { type: "approve", by: "ann" }
}

describe("the signature of a decision", () => {
  const isValid = async (other: Answer) => {
    const signature = await signDecision(key, answer)
    return isSignedDecision([key], { ...other, decision: { ...other.decision, signature } })
  }

  it("counts for this question and this answer", async () => assert.isTrue(await isValid(answer)))

  it.each<readonly [what: string, other: Partial<PendingAsk>]>([
    ["call", { callId: "c2" }],
    ["tool", { tool: "erase" }],
    ["arguments", { fingerprint: "g" }],
    ["asking", { nonce: "m" }],
    ["end of the question", { expiresAt: 9_000 }]
  ])("does not count for another %s", async (_what, other) => {
    assert.isFalse(await isValid({ ...answer, question: { ...answer.question, ask: { ...ask, ...other } } }))
  })

  it.each<readonly [what: string, other: Answer]>([
    ["session", { ...answer, question: { ...answer.question, sessionId: "t" } }],
    ["turn", { ...answer, question: { ...answer.question, turnNumber: 2 } }],
    ["person", { ...answer, decision: { type: "approve", by: "eve" } }],
    ["answer", { ...answer, decision: { type: "deny", by: "ann", reason: "no" } }],
    ["arguments of an edit", { ...answer, decision: { type: "edit", by: "ann", args: {} } }]
  ])("does not count for another %s", async (_what, other) => assert.isFalse(await isValid(other)))

  it("does not count with another key of the same name", async () => {
    const signature = await signDecision({ ...key, secret: "another" }, answer)
    assert.isFalse(await isSignedDecision([key], { ...answer, decision: { ...answer.decision, signature } }))
  })
})
