/** What is served: an agent, and the store of its sessions. */
import { Approval, createAgent, DataFlow, defineTool, SqliteStore } from "@belay/sdk"
import { mkdirSync } from "node:fs"
import { makeModel } from "./model.ts"

mkdirSync(".belay", { recursive: true })
const store = SqliteStore.make({ path: ".belay/agent.db" })

export const refund = defineTool({
  name: "refund_order",
  description: "Refunds an order",
  input: { type: "object", properties: { order: { type: "string" } }, required: ["order"] },
  execute: (args) => `order ${(args as { readonly order: string }).order} was refunded`
})

const agent = createAgent({
  name: "support",
  provider: await makeModel(),
  instructions: "You help customers with their orders.",
  store: store.sessions,
  tools: [refund],
  // DataFlow asks when a value, such as the number of an order, was not named by the customer.
  hooks: [DataFlow.make(), Approval.make({ tools: "refund_order" })]
})

export default { agent, store }
