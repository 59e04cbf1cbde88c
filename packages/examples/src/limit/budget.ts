/** A budget that a team of agents shares: the model call that would go past it is not made. */
import { agentTool, Budget, createAgent, defineHook, defineTool, OpenAiCompatible } from "@belay/sdk"
import * as z from "zod"

const search = defineTool({
  name: "search_orders",
  description: "Search the orders",
  input: z.object({ query: z.string() }),
  execute: () => "2 orders"
})
const clerk = createAgent({ name: "clerk", provider: OpenAiCompatible.fromEnv({ name: "clerk" }), tools: [search] })

const limits = [{ scope: "run", calls: 3 }]
const lead = createAgent({
  name: "lead",
  provider: OpenAiCompatible.fromEnv(),
  tools: [agentTool({ name: "ask_clerk", description: "Ask the clerk about orders", agent: clerk })],
  hooks: [
    Budget.make({ limits }),
    defineHook({
      name: "show",
      postDelegation: (_end, ctx) => console.log("left after the clerk:", Budget.remaining(ctx, limits)[0]?.calls)
    })
  ]
})
const end = await lead.run("Ask the clerk to search the orders for paper").catch((error: Error) => error)
console.log(end instanceof Error ? end.message : `${end.status}: ${end.text}`)
await lead.close()
