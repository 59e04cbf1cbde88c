/** A stricter limit is tried in shadow mode: it decides and is reported, without any effect. */
import { createAgent, defineTool, OpenAiCompatible, Shadow, ToolCallLimit } from "@belay/sdk"
import * as z from "zod"

const send = defineTool({
  name: "send_mail",
  description: "Send a mail",
  input: z.object({ to: z.string() }),
  execute: ({ to }) => `sent to ${to}`
})
const candidate = Shadow.make(ToolCallLimit.make({ tools: "send_*", perTurn: 1 }), {
  onDiff: ({ did, kind, subject, would }) =>
    console.log(`${subject}: ${kind}, ${would.action} instead of ${did.action}`)
})

const agent = createAgent({
  provider: OpenAiCompatible.fromEnv(),
  tools: [send],
  hooks: [ToolCallLimit.make({ perTurn: 10 }), candidate]
})
const session = await agent.session()
const { text } = await session.run("Send a mail to ada@example.com, then send a mail to bob@example.com")
console.log(text)
console.log(Shadow.render(Shadow.report(session.state, candidate.name)))
await agent.close()
