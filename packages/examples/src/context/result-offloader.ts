/**
 * A log that is too long for the model: it reads the beginning, the end and a reference, and reads on where it wants
 * to.
 */
import { createAgent, defineTool, Message, OpenAiCompatible, ResultOffloader } from "@belay/sdk"
import * as z from "zod"

const fetchLog = defineTool({
  name: "fetch_log",
  description: "Fetch the log",
  input: z.object({}),
  execute: () => Array.from({ length: 5_000 }, (_, n) => `request ${n} took ${n % 97} ms`).join("\n")
})

const agent = createAgent({
  provider: OpenAiCompatible.fromEnv(),
  tools: [fetchLog, ResultOffloader.readTool()],
  hooks: [ResultOffloader.make({ maxResultTokens: 1_000, previewTokens: 60 })]
})
const session = await agent.session()
const { messages } = await session.run("Fetch the log")
const shown = Message.text(messages.find(({ role }) => role === "tool")!)
console.log(shown)
const { text } = await session.run(`Read the artifact at ${/<artifact:[^>]+>/.exec(shown)?.[0]}`)
console.log(text)
await agent.close()
