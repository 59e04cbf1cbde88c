/** What a session used: by model, by tool and by agent, with what it cost. */
import { createAgent, defineTool, OpenAiCompatible, UsageReport } from "@belay/sdk"
import * as z from "zod"

const search = defineTool({
  name: "search_orders",
  description: "Search the orders",
  input: z.object({ query: z.string() }),
  execute: ({ query }) => `2 orders for ${query}`
})

const agent = createAgent({
  name: "clerk",
  provider: OpenAiCompatible.fromEnv(),
  tools: [search],
  hooks: [UsageReport.make({ costPerInputToken: 1.5e-7, costPerOutputToken: 6e-7 })]
})
const session = await agent.session()
await session.run("Search the orders for paper")
await session.run("Say hello")
const report = UsageReport.read(session.state)
console.log(UsageReport.render(report))
console.log(UsageReport.cost(report).usd > 0 ? "it cost something" : "it cost nothing")
await agent.close()
