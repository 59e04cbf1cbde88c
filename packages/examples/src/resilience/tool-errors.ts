/** A tool that fails with a stack trace and a path: the model reads what went wrong, and nothing about the machine. */
import { createAgent, defineTool, OpenAiCompatible, ToolErrors } from "@belay/sdk"
import * as z from "zod"

const search = defineTool({
  name: "search_orders",
  description: "Search the orders",
  input: z.object({ query: z.string() }),
  execute: () => {
    throw new Error("cannot open /var/lib/orders/index.db\n    at open (/opt/app/orders.js:12:3)")
  }
})

const agent = createAgent({
  provider: OpenAiCompatible.fromEnv(),
  tools: [search],
  hooks: [ToolErrors.make({ format: (error, { call }) => `${call.name} failed: ${error}` })]
})
const { text } = await agent.run("Search the orders for paper")
console.log(text)
await agent.close()
