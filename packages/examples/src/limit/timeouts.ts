/** A tool that hangs: it is stopped after its time limit, and the model reads that and continues. */
import { createAgent, defineTool, OpenAiCompatible, Timeouts } from "@belay/sdk"
import * as z from "zod"

const search = defineTool({
  name: "search_orders",
  description: "Search the orders",
  input: z.object({ query: z.string() }),
  execute: (_args, { signal }) =>
    new Promise<string>(() => {
      signal.addEventListener("abort", () => console.log("the search was told to stop"))
    })
})

const agent = createAgent({
  provider: OpenAiCompatible.fromEnv(),
  tools: [search],
  hooks: [Timeouts.make({ turn: "1 minute", llmCall: "20 seconds", tool: "10 seconds", perTool: { "search_*": 50 } })]
})
const { text } = await agent.run("Search the orders for paper")
console.log(text)
await agent.close()
