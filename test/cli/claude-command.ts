/**
 * Runs the program of Claude Code with `belay guard` in its settings, against a small Messages endpoint, and prints what
 * its tools have done as JSON.
 */
import { writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { type Block, sendMessage } from "./messages-stream.ts"
import { commands, endpoint, folder, home, mail, mails, prompt, read, report, run, task } from "./scene.ts"

const use = (id: string, name: string, input: object): Block => ({ type: "tool_use", id: `toolu_${id}`, name, input })

/** What the model does, one step after the other. The model of the sub-agent is another one. */
const steps: ReadonlyArray<ReadonlyArray<Block>> = [
  [use("1", "Bash", { command: commands.refused }), use("2", "Bash", { command: commands.changed })],
  [use("3", "Read", { file_path: join(folder, "notes.txt") })],
  [use("4", "mcp__mail__send_mail", mails.poisoned)],
  [use("5", "mcp__mail__send_mail", mails.wanted)],
  [use("6", "Agent", { description: "look", prompt: task, subagent_type: "general-purpose" })]
]
const ofAgent: ReadonlyArray<ReadonlyArray<Block>> = [
  [use("7", "Bash", { command: commands.refusedInAgent })],
  [use("8", "Bash", { command: commands.inAgent })]
]

const url = await endpoint(({ messages = [], tools = [] }, response) => {
  const text = JSON.stringify(messages)
  const isLoop = (tools as ReadonlyArray<{ readonly name?: string }>).some(({ name }) => name === "Bash")
  const isChild = isLoop && !text.includes("guard me") && text.includes(task)
  const script = isChild ? ofAgent : steps
  const next = script.find(([first]) => !text.includes(String(first?.["id"])))
  if (isLoop) read.push(text)
  const blocks = isLoop && next !== undefined ? next : [{ type: "text", text: "done" }]
  sendMessage(response, blocks)
})

writeFileSync(join(folder, "mcp.json"), JSON.stringify({ mcpServers: { mail } }))
const sdk = dirname(createRequire(import.meta.url).resolve("@anthropic-ai/claude-agent-sdk"))
const program = join(sdk, "..", `claude-agent-sdk-${process.platform}-${process.arch}`, "claude")
const allowed = ["--allowedTools", "Bash,Read,Agent,mcp__mail__send_mail"]
const args = ["-p", prompt, ...allowed, "--mcp-config", "mcp.json", "--output-format", "json"]
report(
  await run(program, args, {
    CLAUDE_CONFIG_DIR: join(home, "config"),
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1"
  })
)
