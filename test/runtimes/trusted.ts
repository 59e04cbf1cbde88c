/**
 * A trusted project with a guard and many files beside it. Its argument is a folder that it may write to. It prints what
 * the tool and the guard said.
 */
import { createAgent, defineTool } from "@belay/core"
import { textResponse } from "@belay/core/LlmCall"
import { fromPromise } from "@belay/core/LlmProvider"
import * as HookFiles from "@belay/hook-files/HookFiles"
import * as Schema from "effect/Schema"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const [cwd, home] = [join(process.argv[2] ?? ".", "project"), join(process.argv[2] ?? ".", "home")]
const hooks = join(cwd, ".claude/hooks")
mkdirSync(hooks, { recursive: true })
const command = "bash .claude/hooks/guard.sh"
writeFileSync(
  join(cwd, ".claude/settings.json"),
  JSON.stringify({ hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command }] }] } })
)
writeFileSync(join(hooks, "guard.sh"), "grep -q secret && { echo no secrets >&2; exit 2; }; exit 0")
for (let at = 0; at < 1_500; at++) writeFileSync(join(hooks, `lib${at}.sh`), "true")

const load = () =>
  HookFiles.load({ cwd, home, managed: join(home, "none"), sources: ["claude"], toolNames: { run: "Bash" } })
load().untrusted.forEach((one) => one.trust())

const said: Array<unknown> = []
const lines = ["cat secret", "ls", "cat secret"]
const provider = fromPromise({
  name: "scripted",
  complete: async ({ messages }) => {
    const last = messages.at(-1)
    if (last?.role === "tool") said.push(last.content)
    const line = lines.shift()
    return line === undefined
      ? textResponse("done")
      : {
        ...textResponse(""),
        toolCalls: [{ id: `call-${lines.length}`, name: "run", args: { command: line } }],
        finishReason: "tool-calls"
      }
  }
})
const run = defineTool({
  name: "run",
  description: "Runs a line",
  input: Schema.Struct({ command: Schema.String }),
  execute: () => "ran"
})
await using agent = createAgent({ provider, tools: [run], hooks: load().hooks, cwd })
await agent.run("go")
console.log(JSON.stringify(said))
