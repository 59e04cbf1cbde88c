/**
 * Runs the program of Codex with `belay guard` in its settings, against a small Responses endpoint, and prints what its
 * tools have done as JSON.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { commands, endpoint, folder, home, mail, mails, prompt, read, report, run, task } from "./scene.ts"

interface Item {
  readonly type: string
  readonly [key: string]: unknown
}

const call = (id: string, name: string, args: object, namespace?: string): Item => ({
  type: "function_call",
  id: `fc_${id}`,
  call_id: `call_${id}`,
  name,
  arguments: JSON.stringify(args),
  ...(namespace === undefined ? {} : { namespace })
})

const shell = (id: string, cmd: string): Item => call(id, "exec_command", { cmd })

/** What the model does, one step after the other. The model of the sub-agent is another one. */
const steps: ReadonlyArray<(text: string) => ReadonlyArray<Item>> = [
  () => [shell("1", commands.refused), shell("2", commands.changed)],
  () => [shell("3", "cat notes.txt")],
  () => [call("4", "send_mail", mails.poisoned, "mcp__mail")],
  () => [call("5", "send_mail", mails.wanted, "mcp__mail")],
  () => [call("6", "spawn_agent", { message: task }, "multi_agent_v1")],
  (text) => {
    const [, agent = ""] = /agent_id\W+([\w-]{36})/.exec(text) ?? []
    return [call("9", "wait_agent", { targets: [agent], timeout_ms: 30_000 }, "multi_agent_v1")]
  }
]
const ofAgent: typeof steps = [() => [shell("7", commands.refusedInAgent)], () => [shell("8", commands.inAgent)]]

let count = 0

const eventsOf = (items: ReadonlyArray<Item>) => {
  const id = `resp_${count++}`
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  return [
    { type: "response.created", response: { id } },
    ...items.map((item, index) => ({ type: "response.output_item.done", output_index: index, item })),
    { type: "response.completed", response: { id, usage } }
  ]
}

const url = await endpoint(({ input = [] }, response) => {
  const text = JSON.stringify(input)
  const script = text.includes("guard me") ? steps : ofAgent
  const next = script.map((step) => step(text)).find(([first]) => !text.includes(`"${String(first?.["call_id"])}"`))
  read.push(text)
  const says = [{ type: "message", role: "assistant", id: "m", content: [{ type: "output_text", text: "done" }] }]
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (const event of eventsOf(next ?? says)) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  response.end()
})

// A text in TOML is written as in JSON.
const config = `
model = "demo"
model_provider = "local"
[model_providers.local]
name = "local"
base_url = "${url}/v1"
wire_api = "responses"
[projects.${JSON.stringify(folder)}]
trust_level = "trusted"
[mcp_servers.mail]
command = ${JSON.stringify(mail.command)}
args = ${JSON.stringify(mail.args)}
`
mkdirSync(join(home, ".codex"), { recursive: true })
writeFileSync(join(home, ".codex", "config.toml"), config)
const program = resolve("test/cli/node_modules/@openai/codex/bin/codex.js")
// Nobody is there who trusts the hooks in /hooks. The guard decides about calls, and nothing else does.
const options = [
  "--skip-git-repo-check",
  "--dangerously-bypass-hook-trust",
  "--dangerously-bypass-approvals-and-sandbox"
]
report(await run(process.execPath, [program, "exec", ...options, prompt], {}))
