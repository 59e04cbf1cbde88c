/** Questions to people: who may answer, how many answers are needed, how long they wait, what is remembered. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { AgentConfig } from "../../../../src/agent/AgentConfig.ts"
import type { Decision } from "../../../../src/data/RunState.ts"
import * as Approvals from "../../../../src/guard/Approvals.ts"
import type { Suspended } from "../../../../src/guard/RunResult.ts"
import type { AgentHook } from "../../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../../src/hook/HookAction.ts"
import { failureOf } from "../../../support/agent.ts"
import { answering, approve, make, suspended } from "../../../support/approvals.ts"

describe("a question", () => {
  it("that is answered with other arguments is followed by a run of its hook, which may reject them but need not ask again", async () => {
    const ran: Array<unknown> = []
    const gate: AgentHook = {
      name: "gate",
      tools: "deploy",
      kind: "policy",
      reinvoke: "ifChanged",
      preToolCall: ({ args }) =>
        JSON.stringify(args).includes("prod") ? HookAction.reject("never prod") : HookAction.ask("?")
    }
    const agent = () => make(ran, { approvals: {}, hooks: [gate] })
    const run = await suspended(agent())
    const refused = await agent().resume(run.snapshot, { c: { type: "edit", args: { to: "prod" } } })
    assert.strictEqual(refused.status, "completed")
    assert.deepStrictEqual(ran, [])
    assert.match(JSON.stringify(refused.messages), /never prod/)
    const edited = await agent().resume(run.snapshot, { c: { type: "edit", args: { to: "dev" } } })
    assert.strictEqual(edited.status, "completed")
    assert.deepStrictEqual(ran, [{ to: "dev" }])
  })

  it("has each reason once, and all who ask", async () => {
    const gate = (name: string, reason: string): AgentHook => ({ name, preToolCall: () => HookAction.ask(reason) })
    const hooks = [gate("a", "it costs money"), gate("b", "it is late"), gate("c", "it costs money")]
    const { pending: [ask] } = await suspended(make([], { approvals: {}, hooks }))
    assert.strictEqual(ask!.reason, "it costs money; it is late")
    assert.deepStrictEqual(ask!.reasons?.map(({ by }) => by), ["a", "b", "c"])
  })

  it("of an agent with another core is not answered by this one", async () => {
    const run = await suspended(make([], { approvals: {} }))
    const resumed = make([], { approvals: {} }).resume({ ...run.snapshot, coreType: "theirs" }, { c: approve })
    const { message, problem } = await failureOf(resumed)
    assert.strictEqual(problem, "not-a-snapshot")
    assert.match(String(message), /of core "theirs", this agent runs "/)
  })

  it("needs a quorum of different permitted approvers, and one denial ends it", async () => {
    const ran: Array<unknown> = []
    const options = { quorum: 2, approvers: ["ada", "bob", "eve"] }
    const agent = () => make(ran, { approvals: {} }, options)
    let run = await suspended(agent())
    const say = async (decision: Decision) => {
      const result = await agent().resume(run.snapshot, { c: decision })
      if (result.status === "suspended") run = result
      return result.status
    }
    assert.strictEqual((await failureOf(say({ type: "approve", by: "mallory" })))["problem"], "wrong-decision")
    assert.strictEqual((await failureOf(say(approve)))["problem"], "wrong-decision")
    assert.strictEqual((await failureOf(say({ type: "edit", args: {}, by: "ada" })))["problem"], "wrong-decision")
    assert.strictEqual(await say({ type: "approve", by: "ada" }), "suspended")
    assert.deepStrictEqual(run.pending[0]!.approved, ["ada"])
    assert.strictEqual(await say({ type: "approve", by: "ada" }), "suspended")
    assert.deepStrictEqual(ran, [])
    const before = run
    assert.strictEqual(await say({ type: "approve", by: "bob" }), "completed")
    assert.lengthOf(ran, 1)
    run = before
    assert.strictEqual(await say({ type: "deny", reason: "no", by: "eve" }), "completed")
    assert.lengthOf(ran, 1)
  })

  it("can be delegated to somebody else, and then only that person may answer", async () => {
    const ran: Array<unknown> = []
    const agent = () => make(ran, { approvals: {} })
    const first = await suspended(agent())
    const second = await agent().resume(first.snapshot, {
      c: { type: "delegate", to: ["bob"], by: "ada" }
    }) as Suspended
    assert.deepStrictEqual(second.pending[0]!.approvers, ["bob"])
    assert.strictEqual(
      (await failureOf(agent().resume(second.snapshot, { c: { type: "approve", by: "ada" } })))["problem"],
      "wrong-decision"
    )
    assert.strictEqual(
      (await agent().resume(second.snapshot, { c: { type: "approve", by: "bob" } })).status,
      "completed"
    )
    assert.lengthOf(ran, 1)
  })

  it("takes only the answers that are allowed", async () => {
    const agent = () => make([], { approvals: {} }, { allowed: ["approve", "deny"] })
    const run = await suspended(agent())
    assert.strictEqual(
      (await failureOf(agent().resume(run.snapshot, { c: { type: "edit", args: {} } })))["problem"],
      "wrong-decision"
    )
  })

  it("can be answered in the same process, with quorum, delegation and expiry", async () => {
    const said: Array<string> = []
    const answer = (answers: ReadonlyArray<Decision>, options: Parameters<typeof HookAction.ask>[2]) => {
      const ran: Array<unknown> = []
      let next = 0
      return make(ran, {
        approvals: {},
        onAsk: (ask) => {
          said.push((ask.approved ?? []).join())
          return answers[next++] ?? new Promise<never>(() => {})
        }
      }, options).run("go").then(({ status }) => `${status} ${ran.length}`)
    }
    const by = (name: string): Decision => ({ type: "approve", by: name })
    assert.strictEqual(await answer([by("ada"), by("ada"), by("bob")], { quorum: 2 }), "completed 1")
    assert.deepStrictEqual(said, ["", "ada", "ada"])
    assert.strictEqual(await answer([{ type: "delegate", to: ["bob"] }, by("bob")], {}), "completed 1")
    assert.strictEqual(await answer([{ type: "delegate", to: ["bob"] }, by("eve")], {}), "completed 0")
    assert.strictEqual(await answer([], { expiresInMs: 20 }), "completed 0")
  })

  it("is remembered for the tool, or for these arguments; for the conversation, or for the project", async () => {
    const ask = async (decision: Decision, messages: ReadonlyArray<string>, more: Partial<AgentConfig> = {}) => {
      const { agent, questions } = answering(decision, {}, more, (n) => ({ n }))
      const session = await agent.session()
      for (const message of messages) await session.run(message)
      return questions()
    }
    const remember = (what: "tool" | "arguments", scope: "session" | "project"): Decision => ({
      type: "approve",
      remember: { what, scope }
    })
    assert.strictEqual(await ask(approve, ["a", "b"]), 2)
    assert.strictEqual(await ask(remember("tool", "session"), ["a", "b", "c"]), 1)
    assert.strictEqual(await ask(remember("arguments", "session"), ["a", "b"]), 2)
    const rules = Approvals.inMemoryRules()
    assert.strictEqual(await ask(remember("tool", "project"), ["a"], { approvals: { rules } }), 1)
    assert.strictEqual(await ask(approve, ["a", "b"], { approvals: { rules } }), 0)
    const definition = { description: "Does deploy", hints: "", schema: "{\"type\":\"object\"}" }
    assert.deepStrictEqual(await Effect.runPromise(rules.load), [{ hook: "gate", tool: "deploy", definition }])
  })
})
