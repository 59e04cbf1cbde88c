/** Decisions come from outside: they are read once, and only the copy counts. */
import { assert, describe, it } from "@effect/vitest"
import { createAgent } from "../../../../src/agent/createAgent.ts"
import { SnapshotError } from "../../../../src/data/AgentError.ts"
import { readDecision } from "../../../../src/data/RunState.ts"
import * as HookAction from "../../../../src/hook/HookAction.ts"
import { recording } from "../../../support/agent.ts"
import { asks, scripted } from "../../../support/model.ts"

/** An approval that becomes an edit when it is read again. */
const turncoat = () => {
  let reads = 0
  return {
    get type() {
      return ++reads === 1 ? "approve" : "edit"
    },
    args: { amount: 1_000_000 }
  }
}

const gate = { name: "gate", kind: "policy" as const, preToolCall: () => HookAction.ask("sure?") }

describe("a decision", () => {
  it("of any kind is read as a copy", () => {
    const decisions = [
      { type: "approve", by: "ada", remember: { what: "tool", scope: "session" } },
      { type: "deny", reason: "no" },
      { type: "edit", args: { a: [1] } },
      { type: "respond", output: "x" },
      { type: "delegate", to: ["bob"] }
    ]
    for (const decision of decisions) {
      assert.deepStrictEqual(readDecision(decision), decision as never)
      assert.notStrictEqual(readDecision(decision), decision as never)
    }
  })

  it("that is not data does not count", () => {
    class Args {
      amount = 1
    }
    const throwing = {
      get type(): string {
        throw new Error("no")
      }
    }
    const wrong = [null, 3, "approve", {}, { type: "approved" }, { type: "edit" }, { type: "edit", args: new Args() }]
    for (const value of [...wrong, throwing]) assert.isUndefined(readDecision(value))
  })

  it("that changes while it is read runs what was read first", async () => {
    const pay = recording("pay")
    const provider = () => scripted([asks(["pay", { amount: 1 }, "c"]), "done"]).provider
    await using suspended = createAgent({ provider: provider(), tools: [pay.tool], hooks: [gate] })
    const result = await suspended.run("go")
    assert.strictEqual(result.status, "suspended")
    await suspended.resume("snapshot" in result ? result.snapshot : undefined, { c: turncoat() as never })
    await using asking = createAgent({
      provider: provider(),
      tools: [pay.tool],
      hooks: [gate],
      onAsk: () => turncoat() as never
    })
    await asking.run("go")
    assert.deepStrictEqual(pay.ran, [{ amount: 1 }, { amount: 1 }])
  })

  it("in a list or a map, or in an object that cannot be read, is an error", async () => {
    const pay = recording("pay")
    await using agent = createAgent({
      provider: scripted([asks(["pay", {}, "c"]), "done"]).provider,
      tools: [pay.tool],
      hooks: [gate]
    })
    const result = await agent.run("go")
    const snapshot = "snapshot" in result ? result.snapshot : undefined
    const unreadable = new Proxy({}, {
      ownKeys: () => {
        throw new Error("no")
      }
    })
    const map = new Map([["c", { type: "approve" }]])
    for (const decisions of [[{ type: "approve" }], map, new Set(), 3, null, unreadable]) {
      const error = await agent.resume(snapshot, decisions as never).catch((caught: unknown) => caught)
      assert.instanceOf(error, SnapshotError)
      assert.strictEqual(error.problem, "wrong-decision")
    }
    const noReason = await agent.resume(snapshot, { c: { type: "deny" } as never }).catch((caught: unknown) => caught)
    assert.match(String(noReason), /"c" is not one of \{ type: "approve" \}, \{ type: "deny", reason \}/)
    assert.lengthOf(pay.ran, 0)
  })
})
