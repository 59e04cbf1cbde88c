/** A call that needs several people runs only if so many different people approved it, whatever else is decided. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { agentTool } from "../../../../src/agent/agentTool.ts"
import { type Agent, createAgent } from "../../../../src/agent/createAgent.ts"
import type { Decision } from "../../../../src/data/RunState.ts"
import * as Approvals from "../../../../src/guard/Approvals.ts"
import type { RunResult } from "../../../../src/guard/RunResult.ts"
import type { AgentHook } from "../../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../../src/hook/HookAction.ts"
import * as SessionStore from "../../../../src/port/SessionStore.ts"
import { recording } from "../../../support/agent.ts"
import { key } from "../../../support/approvals.ts"
import { asks, scripted } from "../../../support/model.ts"

const people = ["ada", " ada", "ada\t", "bob", "eve"] as const
const words = [
  "rule",
  " rule ",
  "policy",
  "person",
  "runtime",
  "hook",
  "host",
  "*",
  "",
  "constructor",
  "__proto__"
] as const
const Name = Schema.Literals([...people, ...people, ...words])

const Step = Schema.Struct({
  type: Schema.Literals(["approve", "approve", "approve", "edit", "respond", "delegate"]),
  by: Schema.optionalKey(Name),
  to: Schema.Array(Name),
  remember: Schema.optionalKey(Schema.Struct({
    what: Schema.Literals(["tool", "arguments"]),
    scope: Schema.Literals(["session", "project"])
  }))
})
type Step = typeof Step.Type

const Case = Schema.Struct({
  quorum: Schema.Literals([2, 3]),
  approvers: Schema.Boolean,
  steps: Schema.Array(Step)
})
type Case = typeof Case.Type

const decisionOf = ({ by, remember, to, type }: Step): Decision => {
  const who = by === undefined ? {} : { by }
  switch (type) {
    case "approve":
      return remember === undefined ? { type, ...who } : { type, ...who, remember }
    case "delegate":
      return { type, to, ...who }
    case "edit":
      return { type, args: { to: "production" }, ...who }
    case "respond":
      return { type, output: "done", ...who }
  }
}

/** The people who approved, and those of them who want that remembered. */
const approvals = (given: ReadonlyArray<Decision>) => {
  const all = given.flatMap((one) => one.type === "approve" && one.by !== undefined ? [one] : [])
  const isPerson = (name: string) => name !== "" && !(words.slice(0, 9) as ReadonlyArray<string>).includes(name)
  const namesOf = (some: typeof all) => new Set(some.map(({ by }) => by!.trim()).filter(isPerson))
  return { people: namesOf(all).size, remembering: namesOf(all.filter(({ remember }) => remember !== undefined)).size }
}

const modes = ["in place", "by the hook", "suspended", "in another process", "signed", "in a tree"] as const

/** Plays two turns, each with a call that needs the quorum. Returns how many calls ran, and what was decided. */
const play = async (mode: typeof modes[number], { approvers, quorum, steps }: Case) => {
  const deploy = recording("deploy")
  const given: Array<Array<Decision>> = [[]]
  const left = [...steps]
  const next = (): Decision => {
    const step = left.shift()
    const decision: Decision = step === undefined ? { type: "deny", reason: "nobody is left" } : decisionOf(step)
    given.at(-1)!.push(decision)
    return decision
  }
  const isInPlace = mode === "in place" || mode === "in a tree"
  const gate: AgentHook = {
    name: "gate",
    tools: "deploy",
    kind: "policy",
    reinvoke: "ifChanged",
    preToolCall: () =>
      HookAction.ask("sure?", undefined, {
        quorum,
        ...(approvers ? { approvers: ["ada", "bob ", "eve", "constructor", "__proto__"] } : {}),
        ...(mode === "by the hook" ? { answer: next } : {})
      })
  }
  const store = SessionStore.inMemory()
  const rules = Approvals.inMemoryRules()
  const calling = () =>
    scripted([], {
      after: ({ messages }) =>
        messages.at(-1)!.role === "tool" ? "done" : asks(["deploy", { to: "test" }, `c${messages.length}`])
    }).provider
  const make = (): Agent => {
    const common = {
      approvals: { rules, ...(mode === "signed" ? { keys: [key] as const } : {}) },
      ...(isInPlace ? { onAsk: next } : {}),
      store,
      log: false as const
    }
    if (mode !== "in a tree") {
      return createAgent({ ...common, provider: calling(), tools: [deploy.tool], hooks: [gate] })
    }
    const worker = createAgent({ name: "worker", provider: calling(), tools: [deploy.tool] })
    return createAgent({
      ...common,
      provider: scripted([], {
        after: ({ messages }) =>
          messages.at(-1)!.role === "tool" ? "done" : asks(["work", { message: "go" }, `w${messages.length}`])
      }).provider,
      tools: [agentTool({ name: "work", description: "w", agent: worker })],
      hooks: [gate]
    })
  }
  const answer = async (agent: Agent, run: RunResult): Promise<RunResult> => {
    let result = run
    while (result.status === "suspended" && left.length > 0) {
      const { pending: [ask], sessionId, snapshot, turnNumber } = result
      const decision = next()
      const signed = mode === "signed"
        ? await Approvals.sign(key, { sessionId, turnNumber, ask: ask! }, decision)
        : decision
      const resumer = mode === "in another process" ? make() : agent
      const state = mode === "in another process" ? JSON.stringify(snapshot) : snapshot
      // A decision that is refused changes nothing.
      result = await resumer.resume(state, { [ask!.callId]: signed }).catch(() => result)
    }
    return result
  }
  const ran: Array<number> = []
  const id = "session"
  for (const turn of [1, 2]) {
    const agent = make()
    const session = await agent.session({ id })
    await answer(agent, await session.run(`go ${turn}`))
    await session.release()
    ran.push(deploy.ran.length)
    given.push([])
  }
  return { ran: [ran[0]!, ran[1]! - ran[0]!], given }
}

describe("a call that needs the approval of several people", () => {
  for (const mode of modes) {
    it.effect.prop(
      `never runs with fewer people, in any sequence of decisions (${mode})`,
      [Case],
      ([kase]) =>
        Effect.gen(function*() {
          const { given, ran } = yield* Effect.promise(() => play(mode, kase))
          const [first, second] = given.map(approvals)
          if (ran[0]! > 0) assert.isAtLeast(first!.people, kase.quorum)
          const isRemembered = ran[0]! > 0 && first!.remembering >= kase.quorum
          if (ran[1]! > 0 && !isRemembered) assert.isAtLeast(second!.people, kase.quorum)
          assert.isTrue(ran.every((count) => count <= 1))
        }),
      { arbitrary: { runs: 40 } }
    )

    it(`runs with as many different people, and is remembered if all of them want that (${mode})`, async () => {
      const remember = { what: "tool", scope: "session" } as const
      const approve = (by: "ada" | "bob" | "ada\t", remembers: boolean): Step => ({
        type: "approve",
        to: [],
        by,
        ...(remembers ? { remember } : {})
      })
      const kase = { quorum: 2, approvers: true } as const
      const runs = async (...steps: ReadonlyArray<Step>) => (await play(mode, { ...kase, steps })).ran
      assert.deepStrictEqual(await runs(approve("ada", true), approve("bob", true)), [1, 1])
      assert.deepStrictEqual(await runs(approve("ada", false), approve("bob", true)), [1, 0])
      assert.deepStrictEqual(await runs(approve("ada", true), approve("bob", false)), [1, 0])
      assert.deepStrictEqual(await runs(approve("ada", true), approve("ada\t", true)), [0, 0])
    })
  }
})
