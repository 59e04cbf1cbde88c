/**
 * `yesterday` becomes a date before the tool runs. The clock is given to the hook, so that its today can be any day.
 */
import { createAgent, defineTool, ToolArguments } from "@belay/sdk"
import { Scripted } from "@belay/testing"
import * as Schema from "effect/Schema"
import * as z from "zod"

const days: ReadonlyMap<string, number> = new Map([["yesterday", -1], ["today", 0], ["tomorrow", 1]])
/** Dates in words, as ISO 8601 in UTC. Dates that are none are left to the tool's schema. */
const dates = (now: () => Date) =>
  ToolArguments.forTool({
    tool: "get_report",
    schema: Schema.Struct({ date: Schema.String }),
    rewrite: ({ date }) => {
      const shift = days.get(date.trim().toLowerCase())
      if (shift === undefined) return undefined
      const day = now()
      day.setUTCDate(day.getUTCDate() + shift)
      return { date: day.toISOString().slice(0, 10) }
    }
  })

const report = defineTool({
  name: "get_report",
  description: "Get the report of a day",
  input: z.object({ date: z.string() }),
  execute: ({ date }) => /^\d{4}-\d{2}-\d{2}$/.test(date) ? `report of ${date}` : `${date} is no date`
})
const asks = (date: string) => ({ name: "get_report", args: { date } })
const agent = createAgent({
  provider: Scripted.make([
    Scripted.toolCalls(...["yesterday", "Today", "tomorrow", "2024-02-29", "someday"].map(asks)),
    "done"
  ]),
  tools: [report],
  hooks: [dates(() => new Date("2026-03-01T00:30:00Z"))]
})
const { messages } = await agent.run("What was in the report?")
for (const { content, role } of messages) if (role === "tool") console.log(content)
await agent.close()
