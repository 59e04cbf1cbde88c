/** The model works with placeholders: only the mail tool and the user get the address. */
import { createAgent, defineTool, OpenAiCompatible, Redaction } from "@belay/sdk"
import * as z from "zod"

const send = defineTool({
  name: "send_mail",
  description: "Send a mail",
  input: z.object({ to: z.string() }),
  execute: ({ to }) => {
    console.log(`the tool sends to ${to}`)
    return `sent to ${to}`
  }
})
const redaction = Redaction.make({
  kinds: { email: "placeholder", card: "mask" },
  revealTo: "send_*",
  onDetection: ({ count, kind, place }) => console.log(`${count} x ${kind} in ${place}`)
})

const agent = createAgent({ provider: OpenAiCompatible.fromEnv(), tools: [send], hooks: [redaction] })
const { messages, text } = await agent.run("My card is 4111 1111 1111 1111. Send a mail to ada@example.com")
console.log("the model read:", messages[0]?.content)
console.log("the user reads:", text.split("\n")[1])
await agent.close()
