/** A settings file of a project guards an agent, once a person has trusted it. */
import { HookFiles } from "@belay/hook-files"
import { createAgent, defineTool, OpenAiCompatible } from "@belay/sdk"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as z from "zod"

const home = mkdtempSync(join(tmpdir(), "hook-files-"))
const cwd = join(home, "project")
mkdirSync(join(cwd, ".claude"), { recursive: true })
const guard = { type: "command", if: "Bash(git push *)", command: "echo 'pushing is for people' >&2; exit 2" }
writeFileSync(
  join(cwd, ".claude/settings.json"),
  JSON.stringify({ hooks: { PreToolUse: [{ matcher: "Bash", hooks: [guard] }] } })
)

for (const { commands, trust } of HookFiles.load({ cwd, home }).untrusted) {
  for (const { command, event } of commands) console.log(`trusting ${event}: ${command}`)
  trust()
}
const run = defineTool({
  name: "run_command",
  description: "Run a command in a shell",
  input: z.object({ command: z.string() }),
  execute: ({ command }) => `ran ${command}`
})
const agent = createAgent({
  provider: OpenAiCompatible.fromEnv(),
  tools: [run],
  cwd,
  hooks: HookFiles.load({ cwd, home }).hooks
})
for (const command of ["npm test", "env git push origin main"]) {
  const { messages } = await agent.run(`Run the command "${command}"`)
  console.log(messages.findLast(({ role }) => role === "tool")?.content)
}
rmSync(home, { recursive: true })
await agent.close()
