import { defineHook, HookAction } from "@belay/core"
import { Guard } from "@belay/guard"
import * as Strands from "@belay/guard/Strands"
import * as sdk from "@strands-agents/sdk"
import { OpenAIModel } from "@strands-agents/sdk/models/openai"
import { z } from "zod"

const rollDice = sdk.tool({
  name: "roll_dice",
  description: "Rolls a dice",
  inputSchema: z.object({ sides: z.number() }),
  callback: ({ sides }) => String(sides)
})

const smallDice = defineHook({
  name: "small-dice",
  tools: "roll_dice",
  preToolCall: ({ args }) => Number(Object(args)["sides"]) > 100 ? HookAction.ask("a large dice") : undefined
})
const guarded = Strands.make(Guard.make({ hooks: [smallDice] }), { approvedBy: "ada" })

const model = new OpenAIModel({
  api: "chat",
  modelId: process.env["OPENAI_MODEL"]!,
  clientConfig: { baseURL: process.env["OPENAI_BASE_URL"]! }
})
const agent = new sdk.Agent({ model, tools: [rollDice], printer: false, plugins: [guarded.plugin(sdk)] })

let result = await agent.invoke(process.argv[2]!)
for (const { id, reason } of result.interrupts ?? []) {
  console.log(`approved: ${String(reason)}`)
  result = await agent.invoke([new sdk.InterruptResponseContent({ interruptId: id, response: true })])
}
console.log(result.toString())
