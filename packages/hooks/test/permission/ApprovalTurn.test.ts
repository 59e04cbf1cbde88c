import { defineHook } from "@belay/core/AgentHook"
import { agentTool } from "@belay/core/agentTool"
import type { RuleStore, StandingRule } from "@belay/core/Approvals"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import * as HookChain from "@belay/core/HookChain"
import type { Json } from "@belay/core/Json"
import * as Approval from "@belay/hooks/Approval"
import { Scripted } from "@belay/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { agentWith, person, run } from "../support/approvals.ts"

describe("Approval of parallel calls", () => {
  const three = [["deploy", { id: "1" }], ["deploy", { id: "2" }], ["deploy", { id: "3" }]] as const

  it("applies each answer to its own call, in any order", async () => {
    const { answer, ask, shown, untilShown } = person()
    const turn = run([Approval.make({ tools: "*", ask, concurrency: Infinity })], three[0], three[1])
    await untilShown(2)
    assert.deepEqual(shown, ["1", "2"])
    answer("2", { type: "deny", reason: "no to the second" })
    answer("1", { type: "edit", args: { id: "first" } })
    const { ran, results } = await turn
    assert.deepEqual(ran, [{ id: "first" }])
    assert.strictEqual(results[1], "no to the second")
  })

  it("shows one question at a time", async () => {
    const { answer, ask, shown, untilShown } = person()
    const turn = run([Approval.make({ tools: "*", ask })], ...three)
    await untilShown(1)
    assert.deepEqual(shown, ["1"])
    answer("1", { type: "approve" })
    await untilShown(2)
    assert.deepEqual(shown, ["1", "2"])
    answer("2", { type: "deny", reason: "no" })
    await untilShown(3)
    answer("3", { type: "approve" })
    assert.deepEqual((await turn).ran, [{ id: "1" }, { id: "3" }])
  })

  it("drops the open and the waiting questions of a cancelled turn, and asks the next one", async () => {
    const { answer, ask, shown, untilShown, waiting } = person()
    const hook = Approval.make({ tools: "*", ask })
    const controller = new AbortController()
    const cancelled = agentWith([hook], [["deploy", { id: "1" }], ["deploy", { id: "2" }]])
    const first = cancelled.agent.run("go", { signal: controller.signal }).catch((error: unknown) => error)
    await untilShown(1)
    const other = run([hook], ["deploy", { id: "other" }])
    controller.abort("never mind")
    assert.strictEqual(await first, "never mind")
    assert.isTrue(waiting.get("1")!.request.signal.aborted)
    await untilShown(2)
    assert.deepEqual(shown, ["1", "1"])
    answer("1", { type: "approve" })
    assert.deepEqual((await other).ran, [{ id: "other" }])
    assert.deepEqual(cancelled.ran, [])
  })
})

describe("Approval and the end of the turn", () => {
  it("approves nothing after the turn was cancelled", async () => {
    const { answer, ask, shown, untilShown } = person()
    const controller = new AbortController()
    const { agent, ran } = agentWith([Approval.make({ tools: "*", ask })], [["deploy", {}]])
    const turn = agent.run("go", { signal: controller.signal }).catch((error: unknown) => error)
    await untilShown(1)
    controller.abort("never mind")
    answer("1", { type: "approve" })
    assert.strictEqual(await turn, "never mind")
    assert.deepEqual([ran, shown], [[], ["1"]])
  })

  it("denies a call whose question expired, and closes the prompt", async () => {
    const { ask, waiting } = person()
    const { ran, results } = await run([Approval.make({ tools: "*", ask, expiresIn: 20 })], ["deploy", {}])
    assert.deepEqual([ran, results], [[], ["the question about deploy expired before anybody decided"]])
    assert.isTrue(waiting.get("1")!.request.signal.aborted)
  })
})

describe("Approval and the arguments that run", () => {
  it("shows the arguments that will run, frozen", async () => {
    const asked: Array<Approval.Request> = []
    const ask = (request: Approval.Request): Approval.Answer => {
      asked.push(request)
      return { type: "approve" }
    }
    const { ran } = await run([Approval.make({ tools: "*", ask })], ["delete", { files: ["a"] }])
    const { args, fingerprint } = asked[0]!
    assert.deepEqual(ran, [args])
    assert.throws(() => (args as { readonly files: Array<string> }).files.push("b"), TypeError)
    assert.strictEqual(fingerprint, HookChain.fingerprint("delete", { files: ["a"] }))
    assert.deepInclude(asked[0], { tool: "delete", callId: "1", reason: "delete needs approval" })
  })

  it("runs the shown arguments, even if a hook changes its object later", async () => {
    const files = ["a"]
    const earlier = defineHook({
      name: "earlier",
      priority: 1,
      preToolCall: ({ id, name }) => HookAction.transform({ id, name, args: { files } })
    })
    const ask = (): Approval.Answer => {
      if (!Object.isFrozen(files)) files.push("b")
      return { type: "approve" }
    }
    const { ran } = await run([Approval.make({ tools: "*", ask }), earlier], ["delete", {}])
    assert.deepEqual(ran, [{ files: ["a"] }])
  })

  it("asks about the arguments as a later hook changes them", async () => {
    const seen: Array<Json> = []
    const later = defineHook({
      name: "later",
      preToolCall: ({ id, name }) => HookAction.transform({ id, name, args: { to: "production" } })
    })
    const ask = ({ args }: Approval.Request): Approval.Answer => {
      seen.push(args)
      return { type: "deny", reason: "not there" }
    }
    const { ran, results } = await run([Approval.make({ tools: "*", ask }), later], ["deploy", { to: "staging" }])
    assert.deepEqual(seen, [{ to: "production" }])
    assert.deepEqual([ran, results], [[], ["not there"]])
  })

  it("runs the arguments of a later hook, which the person has approved", async () => {
    const seen: Array<Json> = []
    const later = defineHook({
      name: "later",
      preToolCall: ({ args, id, name }) =>
        HookAction.transform({ id, name, args: { subject: `[x] ${(args as { readonly subject: string }).subject}` } })
    })
    const ask = ({ args }: Approval.Request): Approval.Answer => {
      seen.push(args)
      return { type: "approve" }
    }
    const { ran } = await run([Approval.make({ tools: "*", ask }), later], ["mail", { subject: "hello" }])
    assert.deepEqual(seen, [{ subject: "[x] hello" }])
    assert.deepEqual(ran, [{ subject: "[x] hello" }])
  })

  it("does not ask again about arguments that the person edited", async () => {
    let questions = 0
    const ask = (): Approval.Answer => {
      questions++
      return { type: "edit", args: { to: "staging" } }
    }
    const { ran } = await run([Approval.make({ tools: "*", ask })], ["deploy", { to: "production" }])
    assert.deepEqual([ran, questions], [[{ to: "staging" }], 1])
  })
})

describe("Approval by several people, and approvals that are remembered", () => {
  it("needs as many approvals as `quorum`, and names the people who have approved", async () => {
    const approved: Array<ReadonlyArray<string>> = []
    const names = ["ada", "ada", "bob"]
    const ask = (request: Approval.Request): Approval.Answer => {
      approved.push(request.approved)
      return { type: "approve", by: names[approved.length - 1]! }
    }
    const { ran } = await run([Approval.make({ tools: "*", ask, quorum: 2 })], ["deploy", {}])
    assert.deepEqual(approved, [[], ["ada"], ["ada"]])
    assert.deepEqual(ran, [{}])
  })

  it("accepts only the answers of its approvers, without a delegation too", async () => {
    const ask = ({ approvers }: Approval.Request): Approval.Answer => {
      assert.deepEqual(approvers, ["ada", "bob"])
      return { type: "approve", by: who }
    }
    const hook = Approval.make({ tools: "*", ask, approvers: ["ada", "bob"] })
    let who = "mallory"
    const refused = await run([hook], ["deploy", {}])
    assert.deepEqual([refused.ran, refused.results], [[], ["mallory may not decide about deploy, only ada, bob"]])
    who = "bob"
    assert.deepEqual((await run([hook], ["deploy", {}])).ran, [{}])
  })

  it("takes any kind of answer of an approver", async () => {
    const outcome = async (answer: Approval.Answer) => {
      const hook = Approval.make({ tools: "*", ask: () => ({ ...answer, by: "ada" }), approvers: ["ada"] })
      const { ran, results } = await run([hook], ["deploy", {}])
      return [ran, results]
    }
    assert.deepEqual((await outcome({ type: "edit", args: { to: "staging" } }))[0], [{ to: "staging" }])
    assert.deepEqual(await outcome({ type: "respond", output: "not today" }), [[], ["not today"]])
    assert.deepEqual(await outcome({ type: "deny", reason: "no" }), [[], ["no"]])
  })

  it("accepts only the answers of the people to whom the question was delegated", async () => {
    const ask = ({ approvers }: Approval.Request): Approval.Answer =>
      approvers === undefined ? { type: "delegate", to: ["ada"] } : { type: "approve", by: "mallory" }
    const { ran, results } = await run([Approval.make({ tools: "*", ask })], ["deploy", {}])
    assert.deepEqual([ran, results], [[], ["mallory may not decide about deploy, only ada"]])
  })

  it("can be delegated by an approver to somebody else, who then decides", async () => {
    const ask = ({ approvers = [] }: Approval.Request): Approval.Answer =>
      approvers.includes("ada") ? { type: "delegate", to: ["carl"], by: "ada" } : { type: "approve", by: "carl" }
    const { ran } = await run([Approval.make({ tools: "*", ask, approvers: ["ada", "bob"] })], ["deploy", {}])
    assert.deepEqual(ran, [{}])
  })

  it("denies the call if the answer is not among the allowed ones", async () => {
    const ask = (): Approval.Answer => ({ type: "edit", args: {} })
    const { ran } = await run([Approval.make({ tools: "*", ask, allowed: ["approve", "deny"] })], ["deploy", {}])
    assert.deepEqual(ran, [])
  })

  const questionsOf = async (standing: Approval.Options["standing"], remember: Approval.Answer) => {
    let questions = 0
    const ask = (): Approval.Answer => {
      questions++
      return remember
    }
    const options: Approval.Options = { tools: "*", ask }
    const hook = Approval.make(standing === undefined ? options : { ...options, standing })
    const { agent, ran, warnings } = agentWith([hook], [["deploy", { n: 1 }]], [["deploy", { n: 2 }]], [["deploy", {
      n: 1
    }]])
    await agent.run("go")
    await agent.close()
    assert.lengthOf(ran, 3)
    return { questions, warnings }
  }

  it("asks once if the session remembers the tool, and every time if nothing is remembered", async () => {
    const tool: Approval.Answer = { type: "approve", remember: { what: "tool", scope: "session" } }
    assert.strictEqual((await questionsOf(undefined, tool)).questions, 3)
    assert.strictEqual((await questionsOf("session", tool)).questions, 1)
    const args: Approval.Answer = { type: "approve", remember: { what: "arguments", scope: "session" } }
    assert.strictEqual((await questionsOf("session", args)).questions, 2)
  })

  it("adds rules of the project to the store of the hook, under the name of the hook", async () => {
    const added: Array<unknown> = []
    const store = { load: Effect.succeed([]), add: (rule: unknown) => Effect.sync(() => void added.push(rule)) }
    await questionsOf(store, { type: "approve", remember: { what: "tool", scope: "project" } })
    assert.deepInclude(added[0] as object, { hook: "human-approval", tool: "deploy" })
  })

  it("keeps an approval for the session out of the store of the project", async () => {
    const added: Array<unknown> = []
    const store = { load: Effect.succeed([]), add: (rule: unknown) => Effect.sync(() => void added.push(rule)) }
    const { questions } = await questionsOf(store, { type: "approve", remember: { what: "tool", scope: "session" } })
    assert.deepEqual([added, questions], [[], 1])
  })

  it("does not ask in another session about what a rule of the project allows", async () => {
    const rules: Array<StandingRule> = []
    const store: RuleStore = {
      load: Effect.sync(() => rules),
      add: (rule) => Effect.sync(() => void rules.push(rule))
    }
    const remember = { what: "arguments", scope: "project" } as const
    // The calls have the arguments 1, 2 and 1.
    assert.strictEqual((await questionsOf(store, { type: "approve", remember })).questions, 2)
    assert.strictEqual((await questionsOf(store, { type: "approve" })).questions, 0)
    rules.pop()
    assert.strictEqual((await questionsOf(store, { type: "approve" })).questions, 1)
    const ofAnother = rules.map((rule) => ({ ...rule, hook: "another" }))
    rules.splice(0, rules.length, ...ofAnother)
    assert.strictEqual((await questionsOf(store, { type: "approve" })).questions, 3)
  })

  it("approves a call once if what it should remember is not valid", async () => {
    for (const remember of ["tool", { what: "everything", scope: "session" }, { what: "tool" }]) {
      const { questions } = await questionsOf("session", { type: "approve", remember } as never)
      assert.strictEqual(questions, 3)
    }
  })

  it("warns and asks if the store of rules fails", async () => {
    const store = { load: Effect.fail("no disk"), add: () => Effect.fail("no disk") }
    const { questions, warnings } = await questionsOf(store, {
      type: "approve",
      remember: { what: "tool", scope: "project" }
    })
    assert.strictEqual(questions, 3)
    assert.include(warnings, "the approval rules failed, so the question is asked: no disk")
    assert.include(warnings, "the approval of deploy could not be remembered: no disk")
  })
})

describe("Approval in a tree of agents", () => {
  it("names the session that the host has started, also for a call of a sub-agent", async () => {
    const sessions: Array<string> = []
    const ask = ({ sessionId }: Approval.Request): Approval.Answer => {
      sessions.push(sessionId)
      return { type: "approve" }
    }
    const helper = createAgent({
      name: "helper",
      provider: Scripted.make([Scripted.toolCalls({ name: "deploy" }), "done"]),
      tools: [defineTool({ name: "deploy", description: "d", input: { type: "object" }, execute: () => "deployed" })],
      log: false
    })
    await using lead = createAgent({
      provider: Scripted.make([Scripted.toolCalls({ name: "helper", args: { message: "Deploy it" } }), "done"]),
      tools: [agentTool({ name: "helper", description: "helps", agent: helper })],
      hooks: [Approval.make({ tools: "deploy", ask })],
      log: false
    })
    const session = await lead.session({ id: "of-the-host" })
    assert.strictEqual((await session.run("Deploy it")).status, "completed")
    assert.deepStrictEqual(sessions, ["of-the-host"])
  })
})
