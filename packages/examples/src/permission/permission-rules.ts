/** Rules decide what runs: tests may, a push may not, however it is written, and anything else is asked about. */
import { createAgent, defineTool, OpenAiCompatible, PermissionRules } from "@belay/sdk"
import * as z from "zod"

const run = defineTool({
  name: "run_command",
  description: "Run a command in a shell",
  input: z.object({ command: z.string() }),
  execute: ({ command }) => `ran ${command}`
})
const rules = PermissionRules.make({
  allow: ["Bash(npm test *)"],
  deny: ["Bash(git push *)", "write(/etc/**)"],
  sources: [{ source: "the project", ask: ["network"] }]
})

const agent = createAgent({ provider: OpenAiCompatible.fromEnv(), tools: [run], hooks: [rules] })
for (const command of ["npm test -- --watch=false", "env git -C app push", "curl https://example.com"]) {
  const result = await agent.run(`Run the command "${command}"`)
  console.log(result.status === "suspended" ? `asks: ${result.pending[0]?.reason}` : result.text.split("\n").at(-1))
}
await agent.close()
