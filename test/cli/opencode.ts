/**
 * Runs the program of opencode with the guard as a plugin, against a small endpoint for chat completions, and prints what
 * its tools have done as JSON.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { rolldown } from "rolldown"
import { commands, endpoint, folder, mail, mails, prompt, read, report, run, task } from "./scene.ts"

interface Call {
  readonly id: string
  readonly name: string
  readonly args: object
}

const call = (id: string, name: string, args: object): Call => ({ id: `call_${id}`, name, args })

const shell = (id: string, command: string): Call => call(id, "bash", { command, description: "Runs a command" })

/** What the model does, one step after the other. The model of the sub-agent is another one. */
const steps: ReadonlyArray<ReadonlyArray<Call>> = [
  [shell("1", commands.refused), shell("2", commands.changed)],
  [call("3", "read", { filePath: join(folder, "notes.txt") })],
  [call("4", "mail_send_mail", mails.poisoned)],
  [call("5", "mail_send_mail", mails.wanted)],
  [call("6", "task", { description: "look", prompt: task, subagent_type: "general" })]
]
const ofAgent: typeof steps = [[shell("7", commands.refusedInAgent)], [shell("8", commands.inAgent)]]

let count = 0

const url = await endpoint(({ messages = [], tools = [] }, response) => {
  const text = JSON.stringify(messages)
  const isLoop = Array.isArray(tools) && tools.length > 0
  const script = text.includes("guard me") ? steps : ofAgent
  const next = isLoop ? script.find(([first]) => !text.includes(`"${first?.id ?? ""}"`)) : undefined
  if (isLoop) read.push(text)
  const delta = next === undefined ? { role: "assistant", content: "done" } : {
    role: "assistant",
    tool_calls: next.map(({ args, id, name }, index) => ({
      index,
      id,
      type: "function",
      function: { name, arguments: JSON.stringify(args) }
    }))
  }
  const head = { id: `c${count++}`, object: "chat.completion.chunk", created: 1, model: "demo" }
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  const chunks = [
    { ...head, choices: [{ index: 0, delta, finish_reason: null }] },
    { ...head, choices: [{ index: 0, delta: {}, finish_reason: next === undefined ? "stop" : "tool_calls" }], usage }
  ]
  response.writeHead(200, { "content-type": "text/event-stream" })
  response.end([...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"].map((data) => `data: ${data}\n\n`).join(""))
})

// The program loads plugins with a runtime of its own, which does not know this workspace.
const plugins = join(folder, ".opencode", "plugins")
mkdirSync(plugins, { recursive: true })
const bundle = await rolldown({
  input: "test/cli/opencode-plugin.ts",
  platform: "node",
  resolve: { conditionNames: ["@belay/source", "node", "import"] },
  logLevel: "silent"
})
await bundle.write({ file: join(plugins, "guard.js"), format: "esm", codeSplitting: false })
await bundle.close()

const config = {
  provider: {
    local: {
      npm: "@ai-sdk/openai-compatible",
      name: "local",
      options: { baseURL: `${url}/v1`, apiKey: "none" },
      models: { demo: { name: "demo", tool_call: true, limit: { context: 100_000, output: 1_000 } } }
    }
  },
  model: "local/demo",
  small_model: "local/demo",
  // The guard decides about calls, and nothing else does.
  permission: "allow",
  mcp: { mail: { type: "local", command: [mail.command, ...mail.args] } },
  autoupdate: false,
  share: "disabled"
}
writeFileSync(join(folder, "opencode.json"), JSON.stringify(config))
const require = createRequire(import.meta.url)
const manifest = require.resolve(`opencode-${process.platform}-${process.arch}/package.json`)
report(
  await run(join(manifest, "..", "bin", "opencode"), ["run", prompt], {
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1"
  })
)
