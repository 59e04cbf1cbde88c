import type { AgentEvent } from "@belay/core/AgentEvent"
import { defineHook } from "@belay/core/AgentHook"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import type { Json } from "@belay/core/Json"
import type { ToolCall } from "@belay/core/Message"
import * as LoopDetector from "@belay/hooks/LoopDetector"
import * as Scripted from "@belay/testing/Scripted"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"

type Call = readonly [tool: string, args?: Json]

/** A tool that answers what `answer` says, and writes down that it ran. */
const toolkit = (answers: { readonly [tool: string]: (args: unknown, times: number) => Json }) => {
  const ran: Array<string> = []
  const tools = Object.entries(answers).map(([name, execute]) =>
    defineTool({
      name,
      description: name,
      input: Schema.Struct({ q: Schema.optionalKey(Schema.String) }),
      execute: (args) => execute(args, ran.push(name))
    })
  )
  return { ran, tools }
}

const step = (...calls: ReadonlyArray<Call>) =>
  Scripted.toolCalls(...calls.map(([name, args]) => ({ name, args: args ?? {} })))

/** Runs one turn with these steps, and returns the advice for the model, the events and the result. */
const walk = async (
  steps: ReadonlyArray<ReadonlyArray<Call>>,
  answers: Parameters<typeof toolkit>[0],
  options: LoopDetector.Options = {}
) => {
  const { ran, tools } = toolkit(answers)
  const provider = Scripted.make([...steps.map((calls) => step(...calls)), "done"])
  const events: Array<AgentEvent> = []
  await using agent = createAgent({ provider, tools, hooks: [LoopDetector.make(options)] })
  agent.on((event) => void events.push(event))
  const result = await agent.run("go")
  const results = result.messages.flatMap((message) => message.role === "tool" ? [message.content] : [])
  const told = events.flatMap((event) =>
    event.type === "warning" || event.type === "notice" || event.type === "inject" ? [event.type] : []
  )
  return { result, ran, results, told, events, provider }
}

const times = <A>(n: number, value: A): ReadonlyArray<A> => Array.from({ length: n }, () => value)
const look: ReadonlyArray<Call> = [["look", { q: "a" }]]
const same = { look: () => "same", read: () => "text" }

describe("LoopDetector in an agent", () => {
  it("takes each measure for the same call: warns, advises, notifies a person, blocks, stops", async () => {
    const { provider, ran, result, results, told } = await walk(times(12, look), same)
    assert.deepEqual(told, ["warning", "inject", "notice", "notice"])
    assert.lengthOf(ran, 4)
    assert.deepEqual(results.slice(0, 5), [
      ...times(4, "same"),
      "Loop detected: the same call of look 5 times without a new result. It was not made again. Change strategy."
    ])
    assert.deepInclude(result, { status: "aborted", by: "loop-detector" })
    assert.match(result.text, /the same call of look 8 times/)
    assert.lengthOf(provider.requests, 8)
    assert.include(JSON.stringify(provider.requests[3]?.messages), "Repeating it will not help")
  })

  it("compares arguments independently of the order of their keys", async () => {
    const varied = await walk(times(6, 0).map((_, n) => [["look", { q: String(n) }]] as const), same)
    assert.deepEqual([varied.result.status, varied.told], ["completed", []])
  })

  it("does nothing if the result of a tool changes", async () => {
    const { result, told } = await walk(times(12, look), { look: (_args, n) => `progress ${n}` })
    assert.deepEqual([result.status, told], ["completed", []])
  })

  it("counts equal calls of one step once", async () => {
    const fan = times(9, look[0]!)
    const { ran, result, told } = await walk([fan], same)
    assert.deepEqual([result.status, told, ran.length], ["completed", [], 9])
    const again = await walk(times(5, fan), same)
    assert.deepEqual(again.told, ["warning", "inject", "notice", "notice"])
    assert.lengthOf(again.ran, 36)
  })

  for (const length of [2, 3, 4]) {
    it(`detects a cycle of ${length} calls without progress`, async () => {
      const round = times(length, 0).map((_, n): ReadonlyArray<Call> => [["look", { q: `place ${n}` }]])
      const { ran, result, told } = await walk(times(9, round).flat(), same)
      assert.deepInclude(result, { status: "aborted", by: "loop-detector" })
      assert.lengthOf(ran, 4 * length)
      assert.includeMembers(told, ["warning", "inject", "notice"])
    })
  }

  it("counts from the beginning after a new result", async () => {
    const steps = times(8, 0).flatMap((
      _,
      n
    ): ReadonlyArray<ReadonlyArray<Call>> => [look, look, [["read", { q: `file ${n}` }]]])
    const { result, told } = await walk(steps, same, { ladder: { observe: 3, steer: 3 } })
    assert.deepEqual([result.status, told], ["completed", []])
  })

  it("blocks a call that failed three times with the same error, with the same reason each time", async () => {
    const { ran, result, results } = await walk(times(5, look), {
      look: () => {
        throw new Error("no such table")
      }
    })
    const reason = "Loop detected: identical failing command executed 3 times in 1 minute. Escalate or change strategy."
    assert.deepEqual(results, [...times(3, "no such table"), reason, reason])
    assert.lengthOf(ran, 3)
    assert.strictEqual(result.status, "completed")
    assert.isTrue(
      result.messages.some((message) => message.role === "user" && JSON.stringify(message.content).includes(reason))
    )
  })

  it("allows one more attempt of a failed call after another call had a new result", async () => {
    const edit = (n: number): ReadonlyArray<Call> => [["read", { q: String(n) }]]
    const { ran, results } = await walk(
      [look, edit(1), look, edit(2), look, look, edit(3), look, look, edit(4), look],
      {
        read: (_args, n) => `edited ${n}`,
        look: (_args, n) => {
          if (n > 8) return "fixed"
          throw new Error("tests fail")
        }
      }
    )
    const reason = (n: number) =>
      `Loop detected: identical failing command executed ${n} times in 1 minute. Escalate or change strategy.`
    assert.deepEqual(results.filter((result) => !JSON.stringify(result).includes("edited")), [
      ...times(3, "tests fail"),
      reason(3),
      "tests fail",
      reason(4),
      "fixed"
    ])
    assert.lengthOf(ran, 9)
  })

  it("does nothing if a call fails with different errors, or succeeds in between", async () => {
    const flaky = await walk(times(7, look), {
      look: (_args, n) => {
        if (n % 3 === 0) return `fine ${n}`
        throw new Error("busy")
      }
    })
    assert.lengthOf(flaky.ran, 7)
  })

  it("detects the same error of different calls", async () => {
    const { result, told } = await walk(times(9, 0).map((_, n) => [["look", { q: String(n) }]] as const), {
      look: () => {
        throw new Error("permission denied")
      }
    })
    assert.deepEqual(told, ["warning", "inject", "notice", "notice"])
    assert.match(result.text, /look failed with the same error 8 times in a row/)
  })

  it("detects repeated calls with empty or broken arguments, which did not reach a tool", async () => {
    const strict = defineTool({
      name: "strict",
      description: "strict",
      input: Schema.Struct({ q: Schema.String }),
      execute: () => "ran"
    })
    const broken = (n: number): ToolCall => ({ id: `broken-${n}`, name: "strict", args: null, malformed: `{"q": ${n}` })
    const provider = Scripted.make(
      times(9, 0).map((_, n) => n % 2 === 0 ? step(["strict", {}]) : { ...step(), toolCalls: [broken(n)] })
    )
    await using agent = createAgent({ provider, tools: [strict], hooks: [LoopDetector.make()] })
    const result = await agent.run("go")
    assert.deepInclude(result, { status: "aborted", by: "loop-detector" })
    assert.match(result.text, /strict was called 8 times with empty or broken arguments/)
  })

  it("detects a model that repeats the same answer", async () => {
    const nag = defineHook({ name: "nag", preStop: (_stop, ctx) => ctx.followUp("go on") })
    const provider = Scripted.make(times(9, "I am done.\n"))
    const events: Array<string> = []
    await using agent = createAgent({ provider, hooks: [LoopDetector.make({ ladder: { stop: 5 } }), nag] })
    agent.on((event) => void (event.type === "warning" ? events.push(event.message) : undefined))
    const result = await agent.run("go")
    assert.deepEqual(events, ["Loop detected: the same answer 2 times in a row."])
    assert.deepInclude(result, {
      status: "aborted",
      reason: "Loop detected: the same answer 5 times in a row. The turn was stopped."
    })
  })

  it("compares calls by fields, by a function, or not at all", async () => {
    const steps = times(4, 0).map((_, n) => [["look", { q: String(n) }]] as const)
    const options = (
      loopKey: LoopDetector.Options["loopKey"]
    ) => ({ ladder: { steer: false, escalate: false }, loopKey: loopKey! } as const)
    assert.deepEqual((await walk(steps, same, options({ look: ["nothing"] }))).told, ["warning"])
    assert.deepEqual((await walk(steps, same, options({ look: () => 1 }))).told, ["warning"])
    assert.deepEqual((await walk(times(9, look), same, options({ look: false }))).told, [])
    const throws = options({
      look: () => {
        throw new Error("oops")
      }
    })
    assert.deepEqual((await walk(steps, same, throws)).told, [])
  })

  it("handles a tool with a name such as `constructor`", async () => {
    const { ran } = await walk(times(6, [["constructor", {}]]), { constructor: () => "same" }, {
      ladder: { stop: false },
      loopKey: {}
    })
    assert.lengthOf(ran, 4)
  })

  it("continues to count in another process after a question, and asks at most twice", async () => {
    const options: LoopDetector.Options = { escalate: "ask" }
    const first = toolkit(same)
    await using one = createAgent({
      provider: Scripted.make(times(4, 0).map(() => step(...look))),
      tools: first.tools,
      hooks: [LoopDetector.make(options)]
    })
    const asked = await one.run("go")
    if (asked.status !== "suspended") return assert.fail(asked.status)
    assert.strictEqual(asked.pending[0]?.reason, "Loop detected: the same call of look 4 times without a new result.")
    assert.lengthOf(first.ran, 3)
    assert.isBelow(JSON.stringify(asked.snapshot.local).length, 2_000)
    assert.notInclude(JSON.stringify(asked.snapshot.local), "same")

    const second = toolkit(same)
    await using two = createAgent({
      provider: Scripted.make([...times(9, 0).map(() => step(...look)), "done"]),
      tools: second.tools,
      hooks: [LoopDetector.make({ ...options, ladder: { block: 6 } })]
    })
    const again = await two.resume(JSON.stringify(asked.snapshot), { [asked.pending[0]!.callId]: { type: "approve" } })
    if (again.status !== "suspended") return assert.fail(again.status)
    assert.strictEqual(again.pending[0]?.reason, "Loop detected: the same call of look 5 times without a new result.")
    const ended = await two.resume(again.snapshot, { [again.pending[0]!.callId]: { type: "approve" } })
    assert.deepInclude(ended, { status: "aborted", by: "loop-detector" })
    assert.lengthOf(second.ran, 2)
  })
})
