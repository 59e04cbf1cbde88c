import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { generateText, stepCountIs, tool } from "ai"
import { z } from "zod"

const vendor = createOpenAICompatible({
  name: "vendor",
  baseURL: process.env["OPENAI_BASE_URL"]!,
  apiKey: process.env["OPENAI_API_KEY"]!
})

const rollDice = tool({
  description: "Rolls a dice",
  inputSchema: z.object({ sides: z.number() }),
  execute: async ({ sides }) => {
    // The rule is part of the tool, because nothing else can refuse a call.
    if (sides > 100) throw new Error("a dice has at most 100 sides")
    return sides
  }
})

const { text } = await generateText({
  model: vendor(process.env["OPENAI_MODEL"]!),
  tools: { roll_dice: rollDice },
  stopWhen: stepCountIs(10),
  prompt: process.argv[2]!
})
console.log(text)
