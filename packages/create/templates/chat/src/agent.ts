/** The agent. `npm start` runs it. */
import { CostTracker, defineTool } from "@belay/sdk"
import { makeModel } from "./model.ts"
import { politeness } from "./politeness.ts"

export const rollDice = defineTool({
  name: "roll_dice",
  description: "Rolls a die",
  input: { type: "object", properties: { sides: { type: "number" } }, required: ["sides"] },
  execute: (args) => {
    const { sides } = args as { readonly sides: number }
    return 1 + Math.floor(Math.random() * sides)
  }
})

export default {
  name: "assistant",
  provider: await makeModel(),
  instructions: "You are a helpful assistant. Use the tools.",
  tools: [rollDice],
  hooks: [politeness, CostTracker.make({ costPerInputToken: 4e-7, costPerOutputToken: 1.6e-6, limit: 0.5 })]
}
