import { Agent, BeforeToolCallEvent, tool } from "@strands-agents/sdk"
import { OpenAIModel } from "@strands-agents/sdk/models/openai"
import { z } from "zod"

const rollDice = tool({
  name: "roll_dice",
  description: "Rolls a dice",
  inputSchema: z.object({ sides: z.number() }),
  callback: ({ sides }) => String(sides)
})

const model = new OpenAIModel({
  api: "chat",
  modelId: process.env["OPENAI_MODEL"]!,
  clientConfig: { baseURL: process.env["OPENAI_BASE_URL"]! }
})
const agent = new Agent({ model, tools: [rollDice], printer: false })
agent.addHook(BeforeToolCallEvent, (event) => {
  const { sides } = event.toolUse.input as { readonly sides: number }
  if (sides > 100) event.cancel = "a dice has at most 100 sides"
})
const result = await agent.invoke(process.argv[2]!)
console.log(result.toString())
