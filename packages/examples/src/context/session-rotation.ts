/** A conversation that outgrows its window goes on in a fresh session, and nothing that matters is lost. */
import { createAgent, defineTool, SessionRotation } from "@belay/sdk"
import { Scripted } from "@belay/testing"
import * as z from "zod"

const read = defineTool({
  name: "read_log",
  description: "Read the log",
  input: z.object({}),
  execute: () => "line of the log\n".repeat(400)
})
const agent = createAgent({
  provider: Scripted.make([Scripted.toolCalls({ name: "read_log" }), "The log says nothing new about it."]),
  tools: [read],
  window: { tokens: 1_500 },
  hooks: [SessionRotation.make({ anchors: ["issue #42"], keepRecent: 1 })]
})
agent.on((event) => {
  if (event.type === "rotation") console.log(`rotation: ${event.step}`)
  if (event.type === "session-end" || event.type === "session-start") console.log(event.type)
})
const session = await agent.session({ id: "work" })
const { messages } = await session.run("Read the log for issue #42")
console.log(session.id)
console.log(JSON.stringify(messages[0]).includes("issue #42") ? "the handoff names issue #42" : "the issue was lost")
await session.close()
await agent.close()
