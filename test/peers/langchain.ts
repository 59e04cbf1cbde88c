import { ChatOpenAI } from "@langchain/openai"
import { createAgent, createMiddleware, tool, ToolMessage } from "langchain"
import { z } from "zod"

const rollDice = tool(async ({ sides }) => String(sides), {
  name: "roll_dice",
  description: "Rolls a dice",
  schema: z.object({ sides: z.number() })
})

const smallDice = createMiddleware({
  name: "small-dice",
  wrapToolCall: async (request, handler) => {
    const { args, id, name } = request.toolCall
    if (Number(args["sides"]) <= 100) return handler(request)
    return new ToolMessage({ content: "a dice has at most 100 sides", tool_call_id: id!, name, status: "error" })
  }
})

const model = new ChatOpenAI({
  model: process.env["OPENAI_MODEL"]!,
  configuration: { baseURL: process.env["OPENAI_BASE_URL"]! }
})
const agent = createAgent({ model, tools: [rollDice], middleware: [smallDice] })
const { messages } = await agent.invoke({ messages: [{ role: "user", content: process.argv[2]! }] })
console.log(messages.at(-1)?.text)
