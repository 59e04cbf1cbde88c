import { createAgent, defineHook, defineTool, HookAction, OpenAiCompatible } from "@belay/sdk"
import { z } from "zod"

const rollDice = defineTool({
  name: "roll_dice",
  description: "Rolls a dice",
  input: z.object({ sides: z.number() }),
  execute: ({ sides }) => sides
})

const smallDice = defineHook({
  name: "small-dice",
  tools: rollDice,
  kind: "policy",
  preToolCall: ({ args }) => args.sides > 100 ? HookAction.reject("a dice has at most 100 sides") : undefined
})

const agent = createAgent({ provider: OpenAiCompatible.fromEnv(), tools: [rollDice], hooks: [smallDice] })
const { text } = await agent.run(process.argv[2]!)
console.log(text)
await agent.close()
