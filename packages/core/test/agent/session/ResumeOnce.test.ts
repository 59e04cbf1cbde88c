/** A snapshot is resumed once, also without a store. */
import { assert, describe, it } from "@effect/vitest"
import type { AgentConfig } from "../../../src/agent/AgentConfig.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import * as Approvals from "../../../src/guard/Approvals.ts"
import type { RunResult } from "../../../src/guard/RunResult.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import * as SessionStore from "../../../src/port/SessionStore.ts"
import { recording } from "../../support/agent.ts"
import { asks, scripted } from "../../support/model.ts"

const gate = { name: "gate", kind: "policy" as const, preToolCall: () => HookAction.ask("sure?") }
const approve = { c: { type: "approve" as const } }

const setup = (more: Partial<AgentConfig> = {}) => {
  const started = Promise.withResolvers<void>()
  const pay = recording("pay", () => {
    started.resolve()
    return new Promise((resolve) => setTimeout(resolve, 10, "paid"))
  })
  const make = (...rest: ReadonlyArray<string>) =>
    createAgent({
      provider: scripted([asks(["pay", {}, "c"]), ...rest, "done", "done"]).provider,
      tools: [pay.tool],
      hooks: [gate],
      ...more
    })
  return { make, ran: pay.ran, started: started.promise }
}

const snapshotOf = (result: RunResult): unknown => "snapshot" in result ? JSON.stringify(result.snapshot) : undefined
const outcomes = (all: ReadonlyArray<PromiseSettledResult<RunResult>>): ReadonlyArray<string> =>
  all.map((one) => one.status === "fulfilled" ? one.value.status : String(Object(one.reason).problem)).sort()

describe("a snapshot without a store", () => {
  it("is resumed once by an agent, at the same moment or later", async () => {
    const { make, ran } = setup()
    await using agent = make()
    const snapshot = snapshotOf(await agent.run("go"))
    const all = [1, 2, 3].map(() => agent.resume(snapshot, approve))
    assert.deepStrictEqual(outcomes(await Promise.allSettled(all)), ["completed", "finished", "finished"])
    assert.deepStrictEqual(outcomes(await Promise.allSettled([agent.resume(snapshot, approve)])), ["finished"])
    assert.lengthOf(ran, 1)
  })

  it("is resumed once by several agents of a process at the same moment", async () => {
    const { make, ran } = setup()
    const snapshot = snapshotOf(await make().run("go"))
    const all = [1, 2, 3].map(() => make().resume(snapshot, approve))
    const ends = outcomes(await Promise.allSettled(all))
    assert.deepStrictEqual(ends.slice(0, 2), ["finished", "finished"])
    assert.lengthOf(ran, 1)
  })

  it("is not resumed again after a later question, which has its own snapshot", async () => {
    const { make, ran } = setup()
    const snapshot = snapshotOf(await make().run("go"))
    // The script of this agent begins with the tool call, so the model asks for it once more.
    await using agent = make()
    const again = await agent.resume(snapshot, approve)
    assert.strictEqual(again.status, "suspended")
    assert.deepStrictEqual(outcomes(await Promise.allSettled([agent.resume(snapshot, approve)])), ["finished"])
    const [{ callId }] = again.status === "suspended" ? [again.pending[0]!] : [{ callId: "" }]
    const end = await agent.resume(snapshotOf(again), { [callId]: { type: "approve" } })
    assert.strictEqual(end.status, "completed")
    assert.lengthOf(ran, 2)
  })

  it("can be resumed again if the first time did nothing", async () => {
    const { make, ran } = setup()
    await using agent = make()
    const snapshot = snapshotOf(await agent.run("go"))
    const wrong = await Promise.allSettled([agent.resume(snapshot, { x: { type: "approve" } })])
    assert.deepStrictEqual(outcomes(wrong), ["wrong-decision"])
    assert.strictEqual((await agent.resume(snapshot)).status, "suspended")
    assert.strictEqual((await agent.resume(snapshot, approve)).status, "completed")
    assert.lengthOf(ran, 1)
  })
})

describe("a snapshot of a stored session", () => {
  it("is not resumed if another process runs the turn, also if the session is open here", async () => {
    const { make, ran, started } = setup({ store: SessionStore.inMemory() })
    await using agent = make()
    const session = await agent.session({ id: "ada" })
    const snapshot = snapshotOf(await session.run("go"))
    const first = session.resume(approve)
    await started
    await using other = make()
    const { waiting } = await other.session({ id: "ada" })
    assert.deepInclude(waiting, { type: "process", why: "left" })
    assert.deepStrictEqual(outcomes(await Promise.allSettled([other.resume(snapshot, approve)])), ["finished"])
    assert.strictEqual((await first).status, "completed")
    assert.lengthOf(ran, 1)
  })

  it("does not count again with another revision, because its signature covers the revision", async () => {
    const key = { id: "k", secret: "not a real secret" }
    const { make, ran } = setup({ store: SessionStore.inMemory(), approvals: { keys: [key] } })
    const run = await make().run("go")
    if (run.status !== "suspended") return assert.fail(run.status)
    const { pending: [ask], sessionId, snapshot, turnNumber } = run
    const signed = { c: await Approvals.sign(key, { sessionId, turnNumber, ask: ask! }, approve.c) }
    assert.strictEqual((await make().resume(snapshot, signed)).status, "suspended")
    assert.lengthOf(ran, 1)
    for (let revision = 0; revision < 12; revision++) {
      await Promise.allSettled([make().resume({ ...snapshot, revision }, signed)])
    }
    assert.lengthOf(ran, 1)
  })
})

describe("a question whose arguments were changed in the snapshot", () => {
  it("never runs under its old fingerprint, also without keys", async () => {
    const { make, ran } = setup()
    const snapshot = JSON.parse(String(snapshotOf(await make().run("go"))))
    snapshot.calls[0].ask.args = { amount: 1_000_000 }
    assert.deepStrictEqual(outcomes(await Promise.allSettled([make().resume(snapshot, approve)])), ["forged"])
    assert.lengthOf(ran, 0)
  })
})
