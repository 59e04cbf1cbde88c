import { Agent, run, setOpenAIAPI, setTracingDisabled, tool } from "@openai/agents"
import { z } from "zod"

setOpenAIAPI("chat_completions")
setTracingDisabled(true)

const rollDice = tool({
  name: "roll_dice",
  description: "Rolls a dice",
  parameters: z.object({ sides: z.number() }),
  execute: async ({ sides }) => {
    if (sides > 100) throw new Error("a dice has at most 100 sides")
    return String(sides)
  }
})

const agent = new Agent({ name: "dealer", model: process.env["OPENAI_MODEL"]!, tools: [rollDice] })
const result = await run(agent, process.argv[2]!, { maxTurns: 10 })
console.log(result.finalOutput)
