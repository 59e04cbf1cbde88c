/** A recipe of Kodelet shortens the history by hand, and an executable learns which recipe a turn has. */
import { Kodelet } from "@belay/hook-files"
import { createAgent, Message } from "@belay/sdk"
import { Scripted } from "@belay/testing"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const cwd = mkdtempSync(join(tmpdir(), "kodelet-"))
mkdirSync(join(cwd, ".kodelet/hooks"), { recursive: true })
mkdirSync(join(cwd, "recipes"))
writeFileSync(join(cwd, "recipes/compact.md"), "---\nname: compact\n---\nSummarize the conversation in one line.")
const script = `#!/bin/sh
if [ "$1" = hook ]; then echo user_message_send; else cat >> heard.jsonl; echo >> heard.jsonl; fi
`
writeFileSync(join(cwd, ".kodelet/hooks/audit"), script, { mode: 0o755 })

// A person has read the files of the project, so they may run.
const { handlers } = Kodelet.find(Kodelet.folders({ cwd, home: join(cwd, "home") }))
const recipes = Kodelet.recipeFiles({ cwd, home: join(cwd, "home") })
const provider = Scripted.make([
  "The tests of this project need the port 5433 and nothing else, as the readme says.",
  "The tests need port 5433.",
  "As I said."
])
const agent = createAgent({ provider, cwd, hooks: [Kodelet.make({ handlers, projectDir: cwd, recipes })] })
const session = await agent.session()
await session.run({ message: "Which port?", metadata: { recipe: "intro" } })
console.log(`compacted: ${await session.compact()}`)
console.log(session.messages.map(Message.text).join(" | "))
// A helper runs without these hooks.
await session.run({ message: "Write a commit message", metadata: { hooks: "none" } })
for (const line of readFileSync(join(cwd, "heard.jsonl"), "utf8").trim().split("\n")) {
  const { event, message, recipe_name } = JSON.parse(line)
  console.log(`${event} heard ${JSON.stringify(message)} of the recipe ${recipe_name}`)
}
await agent.close()
rmSync(cwd, { recursive: true })
