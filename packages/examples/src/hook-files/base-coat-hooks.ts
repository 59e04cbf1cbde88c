/** The `hooks.json` of a repository runs as it lies there: a memory at the start, and a policy before each tool. */
import { HookFiles } from "@belay/hook-files"
import { createAgent, defineTool, Message } from "@belay/sdk"
import { Scripted } from "@belay/testing"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as z from "zod"

const home = mkdtempSync(join(tmpdir(), "base-coat-"))
const cwd = join(home, "project")
mkdirSync(cwd)
const answer = (value: object) =>
  `process.stdin.resume().on("end", () => console.log(JSON.stringify(${JSON.stringify(value)})))`
writeFileSync(
  join(cwd, "memory.mjs"),
  answer({ action: "injectContext", additionalContext: ["The tests need port 5433."] })
)
writeFileSync(join(cwd, "policy.mjs"), answer({ action: "block", reason: "deploying is for people" }))
writeFileSync(
  join(cwd, "hooks.json"),
  JSON.stringify({
    version: 1,
    // Without `timeout`, a hook has three seconds.
    hooks: {
      SessionStart: [{ command: "node memory.mjs", priority: 10, timeout: 30 }],
      PreToolUse: [{ command: "node policy.mjs", priority: 20, timeout: 30 }]
    }
  })
)

const load = () => HookFiles.load({ cwd, home, trust: join(home, "trust") })
for (const { commands, trust } of load().untrusted) {
  for (const { command, event } of commands) console.log(`trusting ${event}: ${command}`)
  trust()
}
const deploy = defineTool({ name: "deploy", description: "Deploy", input: z.object({}), execute: () => "deployed" })
const provider = Scripted.make([Scripted.toolCalls({ name: "deploy" }), "I could not deploy."])
const agent = createAgent({ provider, cwd, tools: [deploy], hooks: load().hooks })
const { messages } = await agent.run("Deploy it")
console.log(messages.map(Message.text).find((text) => text.includes("5433")))
console.log(messages.findLast(({ role }) => role === "tool")?.content)
await agent.close()
rmSync(home, { recursive: true })
