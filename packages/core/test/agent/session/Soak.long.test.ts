/** Memory after as many turns as an agent has in a day, with many sessions that wait, and with many open streams. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createAgent } from "../../../src/agent/createAgent.ts"
import { defineTool } from "../../../src/agent/defineTool.ts"
import { type AgentHook, defineHook } from "../../../src/hook/AgentHook.ts"
import * as HookAction from "../../../src/hook/HookAction.ts"
import type { LlmProvider } from "../../../src/port/LlmProvider.ts"
import { heap } from "../../support/soak.ts"

const million = 1_000_000
const waiting = 10_000
const open = 1_000

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
    const answers: Array<(answer: { readonly type: "approve" }) => void> = []
    await using agent = createAgent({
      provider: model(() => true),
      tools: [act],
      hooks: [gate],
      onAsk: () => new Promise((resolve) => void answers.push(resolve)),
      log: false
    })
    const wait = async (count: number) => {
      const runs = Array.from({ length: count }, () => agent.run("go"))
      while (answers.length < count) await new Promise((resolve) => setImmediate(resolve))
      return runs
    }
    const end = async (runs: ReadonlyArray<Promise<unknown>>) => {
      for (const answer of answers.splice(0)) answer({ type: "approve" })
      await Promise.all(runs)
    }
    await end(await wait(100))
    const before = heap()
    const runs = await wait(waiting)
    console.log(`${Math.round((heap() - before) / waiting)} bytes a session`)
    assert.isBelow((heap() - before) / waiting, 24_000, "bytes a session")
    await end(runs.splice(0))
    assert.isBelow((heap() - before) / waiting, 400, "bytes a session that has ended")
  })

  it("keeps little of each of a thousand open streams, and nothing once they have ended", async () => {
    const ends: Array<() => void> = []
    await using agent = createAgent({
      provider: {
        name: "m",
        complete: () => Effect.succeed(says),
        stream: (_request, sink) =>
          Effect.promise(async () => {
            for (let n = 0; n < 50; n++) await sink({ type: "text", text: "word " })
            await new Promise<void>((resolve) => void ends.push(resolve))
            return { ...says, text: "word ".repeat(50) }
          })
      },
      log: false
    })
    const read = async () => {
      let text = ""
      for await (const event of agent.stream("go")) if (event.type === "text-delta") text += event.text
      return text
    }
    const start = async (count: number) => {
      const runs = Array.from({ length: count }, read)
      while (ends.length < count) await new Promise((resolve) => setImmediate(resolve))
      return runs
    }
    const end = async (runs: ReadonlyArray<Promise<string>>) => {
      for (const one of ends.splice(0)) one()
      for (const text of await Promise.all(runs)) assert.strictEqual(text, "word ".repeat(50))
    }
    await end(await start(100))
    const before = heap()
    const runs = await start(open)
    console.log(`${Math.round((heap() - before) / open)} bytes a stream`)
    assert.isBelow((heap() - before) / open, 48_000, "bytes a stream")
    await end(runs.splice(0))
    assert.isBelow((heap() - before) / open, 2_000, "bytes a stream that has ended")
  })
})
