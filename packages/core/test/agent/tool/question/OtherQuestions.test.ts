/** All questions about one call are one question. An answer is for one call. */
import { assert, describe, it } from "@effect/vitest"
import { agentTool } from "../../../../src/agent/agentTool.ts"
import { createAgent } from "../../../../src/agent/createAgent.ts"
import type { Decision } from "../../../../src/data/RunState.ts"
import { inMemoryRules } from "../../../../src/guard/Approvals.ts"
import type { Suspended } from "../../../../src/guard/RunResult.ts"
import type { AgentHook } from "../../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../../src/hook/HookAction.ts"
import { line, recording } from "../../../support/agent.ts"
import { asks, scripted } from "../../../support/model.ts"

const approve: Decision = { type: "approve" }

const gate = (name: string, more: Partial<AgentHook> = {}): AgentHook => ({
  name,
  tools: "deploy",
  ...more,
  preToolCall: () => HookAction.ask(`${name}?`)
})

describe("the questions of several hooks about one call", () => {
  for (const reinvoke of [undefined, "ifChanged"] as const) {
    it(`are one question, and one answer settles it (reinvoke: ${reinvoke})`, async () => {
      const more: Partial<AgentHook> = reinvoke === undefined ? {} : { kind: "policy", reinvoke }
      const deploy = recording("deploy")
      await using agent = createAgent({
        provider: scripted([asks(["deploy", {}, "c"])]).provider,
        tools: [deploy.tool],
        hooks: [gate("first", more), gate("second", more)],
        policy: { check: () => ({ type: "ask", reason: "policy?", grant: { sandbox: "none" } }) }
      })
      const one = await agent.run("go") as Suspended
      assert.deepStrictEqual(one.pending.map(({ reason }) => reason), ["policy?; first?; second?"])
      assert.deepStrictEqual(one.pending[0]!.reasons!.map(({ by }) => by), ["policy", "first", "second"])
      assert.lengthOf(deploy.ran, 0)
      assert.strictEqual((await agent.resume(one.snapshot, { c: approve })).status, "completed")
      assert.lengthOf(deploy.ran, 1)
    })
  }

  it("have the strictest terms of all", async () => {
    const ask = (name: string, terms: Partial<HookAction.Ask>): AgentHook => ({
      name,
      preToolCall: () => HookAction.ask(`${name}?`, undefined, terms)
    })
    await using agent = createAgent({
      provider: scripted([asks(["deploy", {}, "c"])]).provider,
      tools: [recording("deploy").tool],
      hooks: [
        ask("one", { approvers: ["ada ", "bob", "eve"], expiresInMs: 60_000, allowed: ["approve", "deny"] }),
        ask("two", { approvers: ["bob", "ada"], quorum: 2, allowed: ["deny", "approve", "edit"] }),
        ask("three", { expiresInMs: 3_600_000, standing: "session" })
      ]
    })
    const before = Date.now()
    const { pending: [question] } = await agent.run("go") as Suspended
    const { allowed, approvers, expiresAt, quorum, standing } = question!
    assert.deepStrictEqual({ allowed, approvers, quorum, standing }, {
      allowed: ["approve", "deny"],
      approvers: ["ada", "bob"],
      quorum: 2,
      standing: "session"
    })
    assert.isAtMost(expiresAt! - before, 120_000)
  })

  it("deny the call and name the rules if nobody could answer all of them", async () => {
    const ask = (name: string, terms: Partial<HookAction.Ask>): AgentHook => ({
      name,
      preToolCall: () => HookAction.ask(`${name}?`, undefined, terms)
    })
    const cases: ReadonlyArray<readonly [Partial<HookAction.Ask>, Partial<HookAction.Ask>, RegExp]> = [
      [{ approvers: ["ada"] }, { approvers: ["bob"] }, /one accepts ada; two accepts bob/],
      [{ approvers: ["ada", "bob"] }, { quorum: 3 }, /one accepts ada, bob; two needs 3 people/],
      [{ allowed: ["approve"] }, { allowed: ["deny"] }, /one takes the answers approve; two takes the answers deny/]
    ]
    for (const [one, two, reason] of cases) {
      const deploy = recording("deploy")
      await using agent = createAgent({
        provider: scripted([asks(["deploy", {}, "c"]), "done"]).provider,
        tools: [deploy.tool],
        hooks: [ask("one", one), ask("two", two)],
        onAsk: () => assert.fail("nobody should be asked")
      })
      const end = await agent.run("go")
      assert.deepStrictEqual([end.status, deploy.ran.length], ["completed", 0])
      assert.match(line(end.messages), reason)
    }
  })

  for (const scope of ["session", "project"] as const) {
    it(`are remembered for the ${scope} for all of them`, async () => {
      const asked: Array<string> = []
      const deploy = recording("deploy")
      await using agent = createAgent({
        provider: scripted([asks(["deploy"]), "done", asks(["deploy"]), "done"]).provider,
        tools: [deploy.tool],
        hooks: [gate("first"), gate("second")],
        approvals: { rules: inMemoryRules() },
        onAsk: ({ reason }) => {
          asked.push(reason)
          return { type: "approve", remember: { what: "tool", scope } }
        }
      })
      await using session = await agent.session()
      await session.run("go")
      await session.run("again")
      assert.deepStrictEqual(asked, ["first?; second?"])
      assert.lengthOf(deploy.ran, 2)
    })
  }

  it("are asked again if only some of them were remembered", async () => {
    const asked: Array<string> = []
    const deploy = recording("deploy")
    await using agent = createAgent({
      provider: scripted([asks(["deploy"]), "done", asks(["deploy"]), "done"]).provider,
      tools: [deploy.tool],
      hooks: [gate("first"), {
        name: "second",
        preToolCall: (_call, { turnNumber }) => turnNumber === 2 ? HookAction.ask("second?") : undefined
      }],
      onAsk: ({ reason }) => {
        asked.push(reason)
        return { type: "approve", remember: { what: "tool", scope: "session" } }
      }
    })
    await using session = await agent.session()
    await session.run("go")
    await session.run("again")
    assert.deepStrictEqual(asked, ["first?", "first?; second?"])
    assert.lengthOf(deploy.ran, 2)
  })
})

describe("a question for which no approval is remembered", () => {
  it("is asked although the same hook's question about the tool was remembered before", async () => {
    let asked = 0
    const deploy = recording("deploy")
    await using agent = createAgent({
      provider: scripted([asks(["deploy"]), "done", asks(["deploy"]), "done"]).provider,
      tools: [deploy.tool],
      hooks: [{
        name: "gate",
        preToolCall: (_call, { turnNumber }) =>
          turnNumber === 1 ? HookAction.ask("sure?") : { ...HookAction.ask("sure?"), standing: "none" }
      }],
      onAsk: () => {
        asked++
        return { type: "approve", remember: { what: "tool", scope: "session" } }
      }
    })
    await using session = await agent.session()
    await session.run("go")
    await session.run("again")
    assert.strictEqual(asked, 2)
    assert.lengthOf(deploy.ran, 2)
  })
})

describe("a decision about a call", () => {
  it("does not reach a call whose id begins in the same way", async () => {
    const deploy = recording("deploy", ({ n }) => n)
    await using agent = createAgent({
      provider: scripted([asks(["deploy", { n: 1 }, "call_1"], ["deploy", { n: 10 }, "call_10"])]).provider,
      tools: [deploy.tool],
      hooks: [gate("gate")]
    })
    const run = await agent.run("go") as Suspended
    const again = await agent.resume(run.snapshot, { call_10: approve }) as Suspended
    assert.deepStrictEqual(deploy.ran, [{ n: 10 }])
    assert.deepStrictEqual(again.pending.map(({ callId }) => callId), ["call_1"])
  })

  it("of a sub-agent does not reach the sub-agent of a call whose id begins in the same way", async () => {
    const deploy = recording("deploy", ({ by }) => by)
    const asking = (name: string, message: string, id: string) => asks([name, { message }, id])
    const leaf = createAgent({
      name: "leaf",
      provider: scripted([], {
        after: ({ messages }) =>
          messages.at(-1)!.role === "tool" ? "done" : asks(["deploy", { by: messages[0]!.content as string }, "d"])
      }).provider,
      tools: [deploy.tool]
    })
    // The path of the one call is `a/c/d`, that of the other one is `abc/d`.
    const middle = createAgent({
      name: "middle",
      provider: scripted([asking("leaf", "below a", "c")]).provider,
      tools: [agentTool({ name: "leaf", description: "l", agent: leaf })]
    })
    await using agent = createAgent({
      provider: scripted([{
        toolCalls: [
          { id: "a", name: "middle", args: { message: "x" } },
          { id: "abc", name: "leaf", args: { message: "below abc" } }
        ]
      }]).provider,
      tools: [
        agentTool({ name: "middle", description: "m", agent: middle }),
        agentTool({ name: "leaf", description: "l", agent: leaf })
      ],
      hooks: [gate("gate")]
    })
    const run = await agent.run("go") as Suspended
    assert.sameMembers(run.pending.map(({ callId }) => callId), ["a/c/d", "abc/d"])
    const again = await agent.resume(run.snapshot, { "abc/d": approve }) as Suspended
    assert.deepStrictEqual(deploy.ran, [{ by: "below abc" }])
    assert.deepStrictEqual(again.pending.map(({ callId }) => callId), ["a/c/d"])
  })
})

describe("arguments that a person changed, and another person changed back", () => {
  it("run only if those who had to decide about them have decided", async () => {
    const deploy = recording("deploy", (args) => args)
    const gateFor = (name: string, to: string, approver: string): AgentHook => ({
      name,
      kind: "policy",
      reinvoke: "ifChanged",
      preToolCall: ({ args }) =>
        Object(args).to === to ? HookAction.ask(`${name}?`, undefined, { approvers: [approver] }) : undefined
    })
    await using agent = createAgent({
      provider: scripted([asks(["deploy", { to: "production" }, "c"])]).provider,
      tools: [deploy.tool],
      hooks: [gateFor("production", "production", "ada"), gateFor("test", "test", "bob")]
    })
    const first = await agent.run("go") as Suspended
    const second = await agent.resume(first.snapshot, { c: { type: "edit", args: { to: "test" }, by: "ada" } })
    assert.deepStrictEqual((second as Suspended).pending.map(({ approvers, by }) => [by, approvers]), [["test", [
      "bob"
    ]]])
    const third = await agent.resume((second as Suspended).snapshot, {
      c: { type: "edit", args: { to: "production" }, by: "bob" }
    })
    assert.deepStrictEqual([third.status, deploy.ran], ["suspended", []])
    assert.deepStrictEqual((third as Suspended).pending.map(({ approvers, by }) => [by, approvers]), [
      ["production", ["ada"]]
    ])
  })

  it("are answered for everybody who asked before, if that other person may answer them", async () => {
    const deploy = recording("deploy", (args) => args)
    await using agent = createAgent({
      provider: scripted([asks(["deploy", { to: "test" }, "c"]), "done"]).provider,
      tools: [deploy.tool],
      hooks: [
        { name: "every", preToolCall: () => HookAction.ask("every?", undefined, { approvers: ["ada", "bob"] }) },
        {
          name: "production",
          preToolCall: ({ args }) =>
            Object(args).to === "test" ? undefined : HookAction.ask("production?", undefined, { approvers: ["bob"] })
        }
      ]
    })
    const first = await agent.run("go") as Suspended
    const edit = (to: string, by: string): Decision => ({ type: "edit", args: { to }, by })
    const second = await agent.resume(first.snapshot, { c: edit("production", "ada") }) as Suspended
    assert.deepStrictEqual(second.pending.map(({ by }) => by), ["production"])
    const third = await agent.resume(second.snapshot, { c: edit("staging", "bob") })
    assert.deepStrictEqual([third.status, deploy.ran], ["completed", [{ to: "staging" }]])
  })
})
