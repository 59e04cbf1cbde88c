/** One agent may refund little, in euros only; it reads what would fit. */
import { ArgumentSchema, createAgent, defineTool, OpenAiCompatible } from "@belay/sdk"
import * as z from "zod"

const refund = defineTool({
  name: "refund_order",
  description: "Refund an order",
  input: z.object({ amount: z.number() }),
  execute: ({ amount }) => `refunded ${amount}`
})
const small = ArgumentSchema.make({
  tools: "refund_*",
  allow: { amount: { min: 0, max: 100 } },
  advice: "Ask a colleague for more."
})

const agent = createAgent({ provider: OpenAiCompatible.fromEnv(), tools: [refund], hooks: [small] })
for (const amount of [20, 500]) {
  const { messages } = await agent.run(`Refund the order with ${amount} euros`)
  console.log(messages.find(({ role }) => role === "tool")?.content)
}
await agent.close()
