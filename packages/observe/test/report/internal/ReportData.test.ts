/** The figures of a report. */
import { createAgent } from "@belay/core"
import type { AgentEvent } from "@belay/core/AgentEvent"
import { textResponse } from "@belay/core/LlmCall"
import * as Scripted from "@belay/testing/Scripted"
import { assert, describe, it } from "vitest"
import { reportData } from "../../../src/report/internal/reportData.ts"

describe("the data of a report", () => {
  it("sums what all calls of the model used", async () => {
    const events: Array<AgentEvent> = []
    const usage = (inputTokens: number, outputTokens: number, costUsd?: number) => ({
      ...textResponse("done"),
      usage: { inputTokens, outputTokens, ...(costUsd === undefined ? {} : { costUsd }) }
    })
    await using agent = createAgent({ provider: Scripted.make([usage(10, 3, 0.1), usage(20, 4, 0.2), usage(1, 1)]) })
    agent.on((event) => void events.push(event))
    for (const message of ["one", "two", "three"]) await agent.run(message)
    const recording = { entries: events.map((event) => ({ type: "event" as const, event })) }
    const { ms, startedAt, totals } = reportData(recording as never, "Three runs", (text) => text)
    assert.deepInclude(totals, { inputTokens: 31, outputTokens: 8, unpriced: 1, cost: "$0.30 and more" })
    assert.deepEqual([startedAt, ms], [events[0]!.time, events.at(-1)!.time - events[0]!.time])
  })

  it("notes of a turn that goes on that it was resumed, if it was", async () => {
    const events: Array<AgentEvent> = []
    await using agent = createAgent({ provider: Scripted.make(["done"]) })
    agent.on((event) => void events.push(event))
    await agent.run("one")
    const notes = (resumed: boolean) => {
      const started = events.find(({ type }) => type === "turn-start")!
      const entries = [{ type: "event" as const, event: { ...started, resumed } }]
      return reportData({ entries } as never, "A run", (text) => text).rows.map((row) => row.note)
    }
    assert.notInclude(notes(false), "resumed")
    assert.include(notes(true), "resumed")
  })

  it("of nothing is empty", () => {
    const data = reportData({ entries: [] } as never, "Nothing", (text) => text)
    assert.deepInclude(data, { title: "Nothing", startedAt: 0, ms: 0, agents: [], rows: [] })
  })
})
