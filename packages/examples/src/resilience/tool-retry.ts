/** A tool that only reads fails twice: it is run again, and the model never knows. */
import { createAgent, defineTool, OpenAiCompatible, ToolRetry } from "@belay/sdk"
import * as z from "zod"

let tries = 0
const search = defineTool({
  name: "search_orders",
  description: "Search the orders",
  input: z.object({ query: z.string() }),
  readOnly: true,
  execute: ({ query }) => {
    console.log(`try ${++tries}`)
    if (tries < 3) throw new Error("503 Service Unavailable")
    return `2 orders for ${query}`
  }
})

const agent = createAgent({
  provider: OpenAiCompatible.fromEnv(),
  tools: [search],
  hooks: [ToolRetry.make({ retryOn: ["\\b50[234]\\b"], initialDelayMs: 5 })]
})
const { text } = await agent.run("Search the orders for paper")
console.log(text)
await agent.close()
