/** A search in the logs finds 500 lines: the model reads the ten newest, or the errors when it asked for errors. */
import { success } from "@belay/core/Tool"
import { createAgent, defineHook, defineTool, HookAction, OpenAiCompatible } from "@belay/sdk"
import * as z from "zod"

const lines = Array.from(
  { length: 500 },
  (_, n) => ({ at: n, level: n % 120 === 7 ? "ERROR" : "INFO", text: `request ${n}` })
)
const searchLogs = defineTool({
  name: "search_logs",
  description: "Search the logs",
  input: z.object({ query: z.string() }),
  readOnly: true,
  execute: () => lines.toReversed()
})
const relevant = defineHook({
  name: "relevant-lines",
  tools: searchLogs,
  postToolCall: ({ call, result }) => {
    if (!result.ok || !Array.isArray(result.output)) return undefined
    const found = result.output as typeof lines
    const shown = /error/i.test(call.args.query)
      ? found.filter(({ level }) => level === "ERROR")
      : found.toSorted((a, b) => b.at - a.at).slice(0, 10)
    return HookAction.transform(success({ shown, found: found.length }))
  }
})

const agent = createAgent({ provider: OpenAiCompatible.fromEnv(), tools: [searchLogs], hooks: [relevant] })
for (const query of ["checkout", "errors of checkout"]) {
  const { messages } = await agent.run(`Search the logs for "${query}"`)
  const { found, shown } = Object(messages.find(({ role }) => role === "tool")?.content) as {
    found: number
    shown: typeof lines
  }
  console.log(
    `${query}: ${shown.length} of ${found} lines, ${shown.map(({ at, level }) => `${at} ${level}`).join(", ")}`
  )
}
await agent.close()
