/** Arguments the model does not know: the tenant is put in before the tool runs, and stays out of the conversation. */
import { createAgent, defineTool, OpenAiCompatible, ToolArguments } from "@belay/sdk"
import * as z from "zod"

const input = z.object({ query: z.string(), tenant: z.string().optional() })
const search = defineTool({
  name: "search_orders",
  description: "Search the orders",
  input,
  execute: ({ query, tenant }) => `${tenant}: 2 orders for ${query}`
})

const agent = createAgent({
  provider: OpenAiCompatible.fromEnv(),
  tools: [search],
  hooks: [
    ToolArguments.make({
      tools: "search_orders",
      confidential: true,
      rewrite: (args) => ({ ...Object(args), tenant: "acme" })
    })
  ]
})
const { messages, text } = await agent.run("Search the orders for paper")
console.log(text)
console.log(
  JSON.stringify(messages[1]).includes("acme") ? "the model saw the tenant" : "the model never saw the tenant"
)
await agent.close()
