import { defineHook, HookAction } from "@belay/core"
import { Guard } from "@belay/guard"
import * as Guarding from "@belay/guard/Mastra"
import { Agent } from "@mastra/core/agent"
import { ModelRouterLanguageModel } from "@mastra/core/llm"
import { Mastra } from "@mastra/core/mastra"
import { InMemoryStore } from "@mastra/core/storage"
import { createTool } from "@mastra/core/tools"
import { z } from "zod"

const rollDice = createTool({
  id: "roll_dice",
  description: "Rolls a dice",
  inputSchema: z.object({ sides: z.number() }),
  execute: async ({ sides }) => await Promise.resolve(sides)
})

const smallDice = defineHook({
  name: "small-dice",
  tools: "roll_dice",
  preToolCall: ({ args }) => Number(Object(args)["sides"]) > 100 ? HookAction.ask("a large dice") : undefined
})
const guarded = Guarding.make(Guard.make({ hooks: [smallDice] }), { approvedBy: "ada" })

const model = new ModelRouterLanguageModel({
  providerId: "vendor",
  modelId: process.env["OPENAI_MODEL"]!,
  url: process.env["OPENAI_BASE_URL"]!,
  apiKey: process.env["OPENAI_API_KEY"]!
})
const dealer = new Agent(guarded.config({
  id: "dealer",
  name: "dealer",
  instructions: "You roll dice.",
  model,
  tools: { roll_dice: rollDice }
}))
const agent = new Mastra({ agents: { dealer }, storage: new InMemoryStore(), logger: false }).getAgent("dealer")

let result = await agent.generate(process.argv[2]!)
while (result.finishReason === "suspended") {
  const { suspendPayload, toolCallId } = result.suspendPayload
  console.log(`approved: ${suspendPayload.reason}`)
  result = await agent.approveToolCallGenerate({ runId: result.runId!, toolCallId })
}
console.log(result.text)
process.exit()
