/** Which earlier approvals answer a question, and what one question of several askers says. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createAgent } from "../../../../src/agent/createAgent.ts"
import type { Decision } from "../../../../src/data/RunState.ts"
import { unrestricted } from "../../../../src/data/tool/Tool.ts"
import * as Approvals from "../../../../src/guard/Approvals.ts"
import type { Suspended } from "../../../../src/guard/RunResult.ts"
import { type AgentHook, defineHook } from "../../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../../src/hook/HookAction.ts"
import { failureOf, recording } from "../../../support/agent.ts"
import { answering, approve, make, suspended, type Terms } from "../../../support/approvals.ts"
import { asks, scripted } from "../../../support/model.ts"

describe("a remembered approval", () => {
  const rememberedBy = async (approvedBy: ReadonlyArray<string>, terms: Terms) => {
    const rules = Approvals.inMemoryRules()
    const everybody = { ...terms, quorum: 1, approvers: approvedBy }
    const remember = { what: "tool", scope: "project" } as const
    const first = answering({ type: "approve", by: approvedBy[0]!, remember }, everybody, { approvals: { rules } })
    await first.agent.run("go")
    assert.lengthOf(await Effect.runPromise(rules.load), 1)
    const second = answering({ type: "deny", reason: "no", by: "ada" }, terms, { approvals: { rules } })
    await second.agent.run("go")
    return second.questions()
  }

  it("of one person does not answer a question that needs two", async () => {
    assert.strictEqual(await rememberedBy(["ada"], { quorum: 2 }), 1)
    assert.strictEqual(await rememberedBy(["ada"], {}), 0)
  })

  it("of somebody who may not answer the question does not count", async () => {
    assert.strictEqual(await rememberedBy(["mallory"], { approvers: ["ada", "bob"] }), 1)
    assert.strictEqual(await rememberedBy(["bob"], { approvers: ["ada", "bob"] }), 0)
  })

  it("of a field is not one of the tool", async () => {
    const { agent, questions } = answering({ type: "approve", remember: { what: "field", scope: "session" } }, {})
    await using session = await agent.session()
    await session.run("go")
    await session.run("again")
    assert.strictEqual(questions(), 2)
  })

  it("for the session is not a rule of the project", async () => {
    const rules = Approvals.inMemoryRules()
    const remember = { what: "tool", scope: "session" } as const
    const { agent, questions } = answering({ type: "approve", remember }, {}, { approvals: { rules } })
    await agent.run("go")
    await agent.run("go in another session")
    assert.deepStrictEqual(await Effect.runPromise(rules.load), [])
    assert.strictEqual(questions(), 2)
  })

  it("for the project stays in the session where the asker wants that", async () => {
    const rules = Approvals.inMemoryRules()
    const remember = { what: "tool", scope: "project" } as const
    const { agent, questions } = answering({ type: "approve", remember }, { standing: "session" }, {
      approvals: { rules }
    })
    await using session = await agent.session()
    await session.run("go")
    await session.run("again")
    assert.strictEqual(questions(), 1)
    assert.deepStrictEqual(await Effect.runPromise(rules.load), [])
    await agent.run("go in another session")
    assert.strictEqual(questions(), 2)
  })

  it("is not shown to hooks as that of a person", async () => {
    const seen: Array<unknown> = []
    const watch = defineHook({ name: "watch", postToolCall: ({ approval }) => void seen.push(approval?.by) })
    const gate: AgentHook = { name: "gate", tools: "deploy", preToolCall: () => HookAction.ask("deploy?") }
    const decision: Decision = { type: "approve", by: "ada", remember: { what: "tool", scope: "session" } }
    const { agent } = answering(decision, {}, { hooks: [gate, watch] })
    await using session = await agent.session()
    await session.run("go")
    await session.run("again")
    assert.deepStrictEqual(seen, ["ada", undefined])
  })
})

describe("one question of several askers", () => {
  const asking = (name: string, details: string | undefined, terms: Terms = {}): AgentHook => ({
    name,
    preToolCall: () => HookAction.ask(`${name}?`, details, terms)
  })

  it("has the details of the first asker that gives some", async () => {
    const hooks = [asking("one", undefined), asking("two", "it costs 5"), asking("three", "it is late")]
    const { pending: [question] } = await suspended(make([], { approvals: {}, hooks }))
    assert.strictEqual(question!.details, "it costs 5")
  })

  it("is remembered nowhere if one of them wants that", async () => {
    const hooks = [asking("one", undefined, { standing: "session" }), asking("two", undefined, { standing: "none" })]
    const { agent, questions } = answering({ type: "approve", remember: { what: "tool", scope: "session" } }, {}, {
      hooks
    })
    await using session = await agent.session()
    await session.run("go")
    await session.run("again")
    assert.strictEqual(questions(), 2)
  })

  it("counts a person who is named twice once, so that two of them are too few", async () => {
    const ran: Array<unknown> = []
    const hooks = [asking("one", undefined, { approvers: ["ada", " ada"], quorum: 2 })]
    const { messages, status } = await make(ran, { approvals: {}, hooks }).run("go")
    assert.deepStrictEqual([status, ran], ["completed", []])
    assert.match(JSON.stringify(messages), /too few people may decide/)
  })

  it("expires with the earliest of them, whichever asks first", async () => {
    const hooks = [asking("one", undefined, { expiresInMs: 3_600_000 }), asking("two", undefined, { expiresInMs: 1 })]
    const run = await suspended(make([], { approvals: {}, hooks }))
    const limits = run.pending.map(({ expiresAt = Infinity }) => expiresAt - Date.now())
    assert.isBelow(limits[0]!, 1_800_000)
  })
})

describe("a question that needs several people", () => {
  it("is not answered by an output that one of them writes", async () => {
    const ran: Array<unknown> = []
    const agent = make(ran, { approvals: {} }, { quorum: 2 })
    const run = await suspended(agent)
    const answer = agent.resume(run.snapshot, { c: { type: "respond", output: "done", by: "ada" } })
    assert.strictEqual((await failureOf(answer))["problem"], "wrong-decision")
    assert.deepStrictEqual(ran, [])
  })
})

describe("a question of the policy", () => {
  it("is put when only the arguments of a hook need it", async () => {
    const deploy = recording("deploy")
    const model = scripted([asks(["deploy", { to: "test" }, "c"]), "done"])
    await using agent = createAgent({
      provider: model.provider,
      tools: [deploy.tool],
      hooks: [defineHook({
        name: "rename",
        tools: "deploy",
        preToolCall: (call) => HookAction.transform({ ...call, args: { to: "production" } })
      })],
      policy: {
        check: ({ args }) =>
          JSON.stringify(args).includes("production")
            ? { type: "ask", reason: "really?", grant: unrestricted }
            : { type: "allow", grant: unrestricted }
      }
    })
    const run = await agent.run("go") as Suspended
    assert.deepStrictEqual([run.status, deploy.ran], ["suspended", []])
    assert.deepStrictEqual(run.pending.map(({ args, by }) => [args, by]), [[{ to: "production" }, "policy"]])
    await agent.resume(run.snapshot, { c: approve })
    assert.deepStrictEqual(deploy.ran, [{ to: "production" }])
  })
})
