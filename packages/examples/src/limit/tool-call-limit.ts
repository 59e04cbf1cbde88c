/** One mail a turn: the second call is refused, the model reads why and answers without it. */
import { createAgent, defineTool, OpenAiCompatible, ToolCallLimit } from "@belay/sdk"
import * as z from "zod"

const send = defineTool({
  name: "send_mail",
  description: "Send a mail",
  input: z.object({ to: z.string() }),
  execute: ({ to }) => `sent to ${to}`
})

const agent = createAgent({
  provider: OpenAiCompatible.fromEnv(),
  tools: [send],
  hooks: [ToolCallLimit.make({ tools: "send_*", perTurn: 1 })]
})
const { text } = await agent.run("Send a mail to ada@example.com, then send a mail to bob@example.com")
console.log(text)
await agent.close()
