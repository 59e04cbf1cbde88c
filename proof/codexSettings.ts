/** Runs the settings of `packages/hook-files/test/oracle/codex` through the program of Codex. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { codexSettings } from "../packages/hook-files/test/oracle/codex/settings.ts"
import { type Program, proveNoted } from "./notedProject.ts"

const installed = resolve("test/cli/node_modules/@openai/codex")

const answer: Program["answer"] = (response, id, word) => {
  const item = word === undefined
    ? { type: "message", role: "assistant", id, content: [{ type: "output_text", text: "w-answer" }] }
    : {
      type: "function_call",
      id,
      call_id: id,
      name: "exec_command",
      arguments: JSON.stringify({ cmd: `./note ${word}` })
    }
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (
    const event of [
      { type: "response.created", response: { id } },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { id, usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } } }
    ]
  ) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  response.end()
}

const start: Program["start"] = ({ cwd, home, url }) => {
  mkdirSync(join(home, ".codex"))
  writeFileSync(
    join(home, ".codex", "config.toml"),
    `
model = "demo"
model_provider = "local"
[model_providers.local]
name = "local"
base_url = "${url}/v1"
wire_api = "responses"
[features]
hooks = true
[projects.${JSON.stringify(cwd)}]
trust_level = "trusted"
`
  )
  const flags = [
    "--skip-git-repo-check",
    "--dangerously-bypass-hook-trust",
    "--dangerously-bypass-approvals-and-sandbox"
  ]
  return { args: [join(installed, "bin/codex.js"), "exec", ...flags, "guard me"] }
}

/** Runs the settings whose name contains a text. With `record`, it writes down what the program did. */
export const proveCodexSettings = async (part: string, record: boolean): Promise<void> => {
  if (!existsSync(installed)) return console.log("Codex is not installed: run node scripts/setup.mjs --cli first.")
  const { version } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"))
  const program: Program = {
    name: "Codex",
    version,
    recordFile: resolve("packages/hook-files/test/oracle/codex/recorded.json"),
    answer,
    readOf: ({ input }) =>
      (Array.isArray(input) ? input : []).filter(({ role, type }) => role !== "assistant" && type !== "function_call"),
    start
  }
  await proveNoted(program, codexSettings, part, record)
}
