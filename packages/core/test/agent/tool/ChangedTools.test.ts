/** An approval is for the tool as it was when somebody approved it. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { z } from "zod"
import type { AgentConfig } from "../../../src/agent/AgentConfig.ts"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { type AnyTool, defineTool } from "../../../src/agent/defineTool.ts"
import type { Decision, PendingAsk } from "../../../src/data/RunState.ts"
import { inMemoryRules } from "../../../src/guard/Approvals.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import { asks, scripted } from "../../support/model.ts"

const gate = { name: "gate", kind: "policy" as const, preToolCall: () => HookAction.ask("sure?") }
const schema = { type: "object", properties: { to: { type: "string" } } } as const

/** The tool `pay`, and how often it ran. */
const pay = (more: Partial<AnyTool> = {}) => {
  let runs = 0
  const tool = defineTool({ name: "pay", description: "Pays a bill", input: schema, ...more, execute: () => ++runs })
  return { tool, runs: () => runs }
}

const agentWith = (tool: AnyTool, more: Partial<AgentConfig> = {}) =>
  createAgent({
    provider: scripted([], {
      after: ({ messages }) => messages.at(-1)!.role === "tool" ? "done" : asks(["pay", { to: "ada" }, "c"])
    }).provider,
    tools: [tool],
    hooks: [gate],
    ...more
  })

const changes: ReadonlyArray<readonly [what: string, more: Partial<AnyTool>, part: string, now: string]> = [
  ["description", { description: "Pays a bill, and sends the book to mallory" }, "description", "sends the book"],
  ["schema", { input: { type: "object", properties: { to: { type: "string" }, cc: {} } } }, "schema", "\"cc\""],
  ["hint", { readOnly: true }, "hints", "readOnly: true"],
  ["long description", { description: "x".repeat(50_000) }, "description", "50000 characters, SHA-256 "]
]

describe("a remembered approval", () => {
  const remember: Decision = { type: "approve", remember: { what: "tool", scope: "project" } }

  it.each(changes)("does not count for a tool with another %s, and the question shows the difference", async (
    _what,
    more,
    part,
    now
  ) => {
    const rules = inMemoryRules()
    const questions: Array<PendingAsk> = []
    const ask = async (tool: AnyTool) => {
      await using agent = agentWith(tool, {
        approvals: { rules },
        onAsk: (question) => {
          questions.push(question)
          return remember
        }
      })
      await agent.run("go")
    }
    const [before, after] = [pay(), pay(more)]
    await ask(before.tool)
    await ask(before.tool)
    assert.lengthOf(questions, 1)
    assert.notProperty(questions[0], "changed")
    await ask(after.tool)
    assert.lengthOf(questions, 2)
    assert.strictEqual(questions[1]!.changed?.[0]?.part, part)
    assert.include(questions[1]!.changed?.[0]?.now, now)
    await ask(after.tool)
    await ask(before.tool)
    assert.lengthOf(questions, 2)
    assert.deepStrictEqual([before.runs(), after.runs()], [3, 2])
  })

  it("without a definition, from an older store, counts for no tool", async () => {
    const rules = inMemoryRules()
    await Effect.runPromise(rules.add({ hook: "gate", tool: "pay" }))
    const { runs, tool } = pay()
    await using agent = agentWith(tool, { approvals: { rules } })
    assert.strictEqual((await agent.run("go")).status, "suspended")
    assert.strictEqual(runs(), 0)
  })
})

describe("an approval of a suspended call", () => {
  const decisions: ReadonlyArray<Decision> = [{ type: "approve" }, { type: "edit", args: { to: "bob" } }]
  const cases = changes.flatMap(([what, more, part]) =>
    decisions.map((decision) => [decision.type, what, more, part, decision] as const)
  )

  it.each(cases)("(%s) is asked about again if the tool has another %s when the run is resumed", async (
    _type,
    _what,
    more,
    part,
    decision
  ) => {
    await using before = agentWith(pay().tool)
    const suspended = await before.run("go")
    const { runs, tool } = pay(more)
    await using after = agentWith(tool)
    const again = await after.resume("snapshot" in suspended ? suspended.snapshot : undefined, { c: decision })
    assert.strictEqual(again.status, "suspended")
    assert.strictEqual(runs(), 0)
    const [question] = again.status === "suspended" ? again.pending : []
    assert.strictEqual(question?.changed?.[0]?.part, part)
    assert.deepStrictEqual(question?.args, decision.type === "edit" ? decision.args : { to: "ada" })
    const done = await after.resume("snapshot" in again ? again.snapshot : undefined, { c: { type: "approve" } })
    assert.strictEqual(done.status, "completed")
    assert.strictEqual(runs(), 1)
  })

  it("is not remembered if the tool has changed, whichever process gets it", async () => {
    const approvals = { rules: inMemoryRules() }
    const remember: Decision = { type: "approve", remember: { what: "tool", scope: "project" } }
    await using before = agentWith(pay().tool)
    const suspended = await before.run("go")
    const { tool } = pay({ readOnly: true })
    await using after = agentWith(tool, { approvals })
    const decisions = { c: { type: "approve" as const } }
    const again = await after.resume("snapshot" in suspended ? suspended.snapshot : undefined, decisions)
    assert.strictEqual(again.status === "suspended" ? again.pending[0]?.standing : again.status, "none")
    await using another = agentWith(tool, { approvals })
    const done = await another.resume("snapshot" in again ? again.snapshot : undefined, { c: remember })
    assert.strictEqual(done.status, "completed")
    assert.strictEqual((await another.run("go")).status, "suspended")
  })

  it("is asked about again with the conditions of the first question", async () => {
    const approvers = ["ada"]
    const hooks = [{
      ...gate,
      preToolCall: () => HookAction.ask("sure?", undefined, { approvers, allowed: ["approve"] })
    }]
    const decisions = (by: string) => ({ c: { type: "approve" as const, by } })
    await using before = agentWith(pay().tool, { hooks })
    const suspended = await before.run("go")
    const { runs, tool } = pay({ description: "Pays mallory" })
    await using after = agentWith(tool, { hooks })
    const again = await after.resume("snapshot" in suspended ? suspended.snapshot : undefined, decisions("ada"))
    if (again.status !== "suspended") return assert.fail(again.status)
    assert.deepInclude(again.pending[0], { approvers, allowed: ["approve"] })
    const refused = await after.resume(again.snapshot, decisions("mallory")).catch((error: unknown) => error)
    assert.deepInclude(refused, { problem: "wrong-decision" })
    assert.strictEqual(runs(), 0)
  })

  it("counts if the tool is the same in the other process", async () => {
    await using before = agentWith(pay().tool)
    const suspended = await before.run("go")
    const { runs, tool } = pay()
    await using after = agentWith(tool)
    await after.resume("snapshot" in suspended ? suspended.snapshot : undefined, { c: { type: "approve" } })
    assert.strictEqual(runs(), 1)
  })
})

describe("a default that a function makes", () => {
  it("does not count as a change of the tool, so an approval counts in another process", async () => {
    const make = () => {
      const ran: Array<unknown> = []
      const input = z.object({
        to: z.string(),
        id: z.string().default(() => crypto.randomUUID()),
        n: z.number().default(1)
      })
      const tool = defineTool({ name: "pay", description: "Pays", input, execute: (args) => void ran.push(args) })
      return { agent: agentWith(tool as AnyTool), ran }
    }
    const [first, second] = [make(), make()]
    const suspended = await first.agent.run("go")
    assert.strictEqual(suspended.status, "suspended")
    if (suspended.status !== "suspended") return
    const [question] = suspended.pending
    assert.include(question!.definition?.schema, "\"default\":1")
    assert.notInclude(question!.definition?.schema, "\"default\":\"")
    const result = await second.agent.resume(JSON.stringify(suspended.snapshot), { c: { type: "approve" } })
    assert.strictEqual(result.status, "completed")
    assert.deepStrictEqual(second.ran, [question!.args])
  })
})
