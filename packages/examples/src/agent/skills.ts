/**
 * An agent with a skill of its project: a person trusts it, and while it is in use the agent does nothing that the
 * skill does not declare.
 */
import { createAgent } from "@belay/sdk"
import { Scripted } from "@belay/testing"
import { Bash, Skills, Toolset } from "@belay/tools"
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const home = mkdtempSync(join(tmpdir(), "skills-"))
const cwd = join(home, "project")
const folder = join(cwd, ".agents", "skills", "count-lines")
mkdirSync(join(folder, "scripts"), { recursive: true })
writeFileSync(
  join(folder, "SKILL.md"),
  String.raw`---
name: count-lines
description: Counts the lines of files. Use it when somebody asks how long a file is.
allowed-tools: Read Bash($CLAUDE_SKILL_DIR/scripts/count.sh *)
---
Run scripts/count.sh with the path of the file.
`
)
writeFileSync(join(folder, "scripts", "count.sh"), "#!/bin/sh\nwc -l < \"$1\" | tr -d ' '\n", { mode: 0o755 })
writeFileSync(join(cwd, "notes.txt"), "one\ntwo\nthree\n")

const before = Skills.load({ cwd, home })
for (const { files, skill, trust } of before.untrusted) {
  console.log(`trusting ${skill.name} with ${files.length} files; it may use ${skill.allowedTools?.join(", ")}`)
  trust()
}
const { tools } = Skills.load({ cwd, home })

// A script instead of a model, so that the program always does the same.
const model = Scripted.make([
  Scripted.toolCalls({ name: "load_skill", args: { name: "count-lines" } }),
  Scripted.toolCalls(
    { name: "Bash", args: { command: ".agents/skills/count-lines/scripts/count.sh notes.txt" } },
    { name: "Bash", args: { command: "curl https://example.com" } },
    { name: "Write", args: { file_path: "notes.txt", content: "" } }
  ),
  "It has three lines."
])
const agent = createAgent({ provider: model, cwd, tools: [...Toolset.files(), Bash.make(), ...tools] })
for await (const event of agent.stream("How long is notes.txt?")) {
  if (event.type === "tool-denied") console.log(`refused: ${event.call.name} ${JSON.stringify(event.call.args)}`)
  if (event.type === "tool-end" && event.result.ok && event.call.name === "Bash") {
    console.log(`ran: ${JSON.stringify(event.result.output)}`)
  }
}
await agent.close()
