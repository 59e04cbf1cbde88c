/** A query that finds 5,000 rows: the model reads 20 of them, and that there are more. */
import { createAgent, defineTool, OpenAiCompatible, Projection } from "@belay/sdk"
import * as z from "zod"

const runQuery = defineTool({
  name: "run_query",
  description: "Run an SQL query",
  input: z.object({ sql: z.string() }),
  readOnly: true,
  execute: () => ({ rows: Array.from({ length: 5_000 }, (_, id) => ({ id, name: `customer ${id}` })) })
})
const truncated = Projection.make({
  projections: { run_query: "{rows: rows[0:20], truncated: length(rows) > `20`, total: length(rows)}" }
})

const agent = createAgent({ provider: OpenAiCompatible.fromEnv(), tools: [runQuery], hooks: [truncated] })
const { messages } = await agent.run("Run the query \"select * from customers\"")
const { rows, ...rest } = Object(messages.find(({ role }) => role === "tool")?.content)
console.log(`the model read ${rows.length} rows and ${JSON.stringify(rest)}`)
await agent.close()
