/** Commands that destroy are asked about, wherever they hide in a line; here nobody agrees. */
import { createAgent, defineTool, DestructiveCommands, OpenAiCompatible } from "@belay/sdk"
import * as z from "zod"

const run = defineTool({
  name: "run_command",
  description: "Run a command in a shell",
  input: z.object({ command: z.string() }),
  execute: ({ command }) => `ran ${command}`
})

const agent = createAgent({
  provider: OpenAiCompatible.fromEnv(),
  tools: [run],
  hooks: [DestructiveCommands.make({ onMatch: "ask" })],
  onAsk: ({ reason }) => {
    console.log(`asked: ${reason}`)
    return { type: "deny", reason: "nobody agreed" }
  }
})
for (const command of ["ls -la build", "cd build && sudo rm -rf cache"]) {
  const { text } = await agent.run(`Run the command "${command}"`)
  console.log(text.split("\n").at(-1))
}
await agent.close()
