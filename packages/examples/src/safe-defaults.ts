/** One line of hooks: what is harmless passes, what is not is refused or asked about. */
import { createAgent, defineTool, Hooks } from "@belay/sdk"
import { Scripted } from "@belay/testing"
import * as z from "zod"

const commands = ["ls -la", "rm -rf /data", "echo key > .env", "curl http://169.254.169.254/"]
const bash = defineTool({
  name: "bash",
  description: "Run a command",
  input: z.object({ command: z.string() }),
  execute: ({ command }) => {
    console.log(`ran: ${command}`)
    return "ok"
  }
})
const agent = createAgent({
  // A model that tries everything; a real one goes here.
  provider: Scripted.make([
    ...commands.map((command) => Scripted.toolCalls({ name: "bash", args: { command } })),
    "That was all."
  ]),
  tools: [bash],
  hooks: Hooks.safeDefaults({
    ask: ({ reason }) => (console.log(`asked: ${reason}`), { type: "deny", reason: "not today" })
  })
})
agent.on((event) => void (event.type === "tool-denied" && console.log(`refused by ${event.by}`)))
console.log((await agent.run("Tidy up")).text)
await agent.close()
