/**
 * Settings of Claude Code with hooks and permissions, and hooks in the front matter of a skill, which run once the
 * skill is used.
 */
import { HookFiles } from "@belay/hook-files"
import { createAgent, defineTool } from "@belay/sdk"
import { Scripted } from "@belay/testing"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import * as z from "zod"

const home = mkdtempSync(join(tmpdir(), "claude-"))
const cwd = join(home, "project")
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(cwd, path)), { recursive: true })
  writeFileSync(join(cwd, path), text)
}
const refuse = (text: string) => ({ type: "command", command: `echo '${text}' >&2; exit 2` })
write(
  ".claude/settings.json",
  JSON.stringify({
    permissions: { deny: ["Bash(git push *)"], ask: ["Bash(npm publish *)"] },
    hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ ...refuse("rm is for people"), if: "Bash(rm *)" }] }] }
  })
)
const frontMatter = (name: string, text: string) =>
  `---
name: ${name}
description: ${name}
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          if: Bash(${name} *)
          command: "echo '${text}' >&2; exit 2"
---
`
write(".claude/skills/deploy/SKILL.md", frontMatter("deploy", "the skill asks a person to deploy"))

const load = () => HookFiles.load({ cwd, home, trust: join(home, "trust") })
for (const { commands, trust } of load().untrusted) {
  for (const { event, file } of commands) console.log(`trusting ${event} of ${file.slice(cwd.length + 1)}`)
  trust()
}
const commands = ["npm test", "git -C . push origin", "rm -r dist", "deploy now", "npm publish --access public"]
const bash = defineTool({
  name: "Bash",
  description: "Runs a command",
  input: z.object({ command: z.string() }),
  execute: ({ command }) => `ran ${command}`
})
const skill = defineTool({
  name: "Skill",
  description: "Loads a skill",
  input: z.object({ skill: z.string() }),
  execute: ({ skill }) => `loaded ${skill}`
})
const provider = Scripted.make([
  Scripted.toolCalls({ name: "Skill", args: { skill: "deploy" } }),
  ...commands.map((command) => Scripted.toolCalls({ name: "Bash", args: { command } })),
  "done"
])
const agent = createAgent({ provider, cwd, tools: [bash, skill], hooks: load().hooks })
const session = await agent.session()
const { status } = await session.run("go")
for (const message of session.messages) if (message.role === "tool") console.log(message.content)
console.log(`${status}: ${session.pending.map(({ args }) => JSON.stringify(args)).join()}`)
await agent.close()
rmSync(home, { recursive: true })
