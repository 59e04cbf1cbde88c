/** Memory after as many turns as an agent has in a day, with many sessions that wait, and with many open streams. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { defineTool } from "../../../src/agent/defineTool.ts"
import type { RunResult } from "../../../src/guard/RunResult.ts"
import { type AgentHook, defineHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import type { LlmProvider } from "../../../src/port/LlmProvider.ts"
import { heap } from "../../support/soak.ts"

const million = 1_000_000

const usage = { inputTokens: 10, outputTokens: 5 }
const says = { model: "m", text: "done", toolCalls: [], finishReason: "stop", usage } as const
const asks = { ...says, text: "", toolCalls: [{ id: "c", name: "act", args: {} }], finishReason: "tool-calls" } as const

/** A model that calls the tool in every turn for which `calls` says so. */
const model = (calls: (turn: number) => boolean): LlmProvider => {
  let turns = 0
  return {
    name: "m",
    complete: ({ messages }) => Effect.sync(() => messages.at(-1)!.role === "user" && calls(turns++) ? asks : says)
  }
}

const act = defineTool({ name: "act", description: "act", input: { type: "object" }, execute: () => "done" })

const counts = defineHook({
  name: "counts",
  postTurn: (_turn, ctx) => void ctx.state.update("turns", (count) => Number(count ?? 0) + 1)
})

/** Runs that stay open until their gates do. */
interface Runs<A> {
  readonly begin: () => Promise<A>
  readonly gates: Array<() => void>
  readonly check: (ended: A) => void
}

const started = async <A>({ begin, gates }: Runs<A>, count: number): Promise<Array<Promise<A>>> => {
  const runs = Array.from({ length: count }, begin)
  while (gates.length < count) await new Promise((resolve) => setImmediate(resolve))
  return runs
}

/** A function of its own, so that nothing of the runs is left when it has ended. */
const ended = async <A>({ check, gates }: Runs<A>, runs: Array<Promise<A>>): Promise<void> => {
  for (const open of gates.splice(0)) open()
  for (const one of await Promise.all(runs.splice(0))) check(one)
}

/** The bytes of the heap for each of many open runs, and for each after they have ended. */
const bytesOf = async <A>(count: number, runs: Runs<A>): Promise<readonly [open: number, ended: number]> => {
  await ended(runs, await started(runs, 100))
  const before = heap()
  const many = await started(runs, count)
  const open = (heap() - before) / count
  await ended(runs, many)
  return [open, (heap() - before) / count]
}

describe("an agent that runs for a day", () => {
  it("leaves nothing behind after a million turns, ten in a session, and a tool call in every tenth", async () => {
    await using agent = createAgent({
      provider: model((turn) => turn % 10 === 0),
      tools: [act],
      hooks: [counts],
      log: false
    })
    const run = async (turns: number) => {
      for (let turn = 0; turn < turns; turn += 10) {
        await using session = await agent.session()
        for (let n = 0; n < 10; n++) await session.run("go")
      }
    }
    await run(million / 10)
    const before = heap()
    await run(million)
    assert.isBelow((heap() - before) / million, 4, "bytes a turn")
  })

  const gate: AgentHook = { name: "gate", tools: "act", preToolCall: () => HookAction.ask("?") }

  it("keeps little of each of ten thousand sessions that wait for a person, and nothing once they have ended", async () => {
    const gates: Array<() => void> = []
    await using agent = createAgent({
      provider: model(() => true),
      tools: [act],
      hooks: [gate],
      onAsk: () => new Promise((resolve) => void gates.push(() => resolve({ type: "approve" }))),
      log: false
    })
    const check = ({ status }: RunResult) => assert.strictEqual(status, "completed")
    const [open, after] = await bytesOf(10_000, { begin: () => agent.run("go"), gates, check })
    assert.isBelow(open, 24_000, "bytes a session")
    assert.isBelow(after, 400, "bytes a session that has ended")
  })

  it("keeps little of each of a thousand open streams, and nothing once they have ended", async () => {
    const gates: Array<() => void> = []
    const text = "word ".repeat(50)
    await using agent = createAgent({
      provider: {
        name: "m",
        complete: () => Effect.succeed(says),
        stream: (_request, sink) =>
          Effect.promise(async () => {
            for (let n = 0; n < 50; n++) await sink({ type: "text", text: "word " })
            await new Promise<void>((resolve) => void gates.push(resolve))
            return { ...says, text }
          })
      },
      log: false
    })
    const read = async () => {
      let shown = ""
      for await (const event of agent.stream("go")) if (event.type === "text-delta") shown += event.text
      return shown
    }
    const check = (shown: string) => assert.strictEqual(shown, text)
    const [open, after] = await bytesOf(1_000, { begin: read, gates, check })
    assert.isBelow(open, 48_000, "bytes a stream")
    assert.isBelow(after, 2_000, "bytes a stream that has ended")
  })
})
