/** Runs the Claude Agent SDK with the guard against a small Messages endpoint, and prints what the tools got as JSON. */
import { type Options, query } from "@anthropic-ai/claude-agent-sdk"
import { defineHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { Guard } from "@belay/guard"
import * as ClaudeAgent from "@belay/guard/ClaudeAgent"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { sendMessage } from "./messages-stream.ts"

const calls = [
  { type: "tool_use", id: "toolu_1", name: "Bash", input: { command: "echo leak > leaked.txt" } },
  { type: "tool_use", id: "toolu_2", name: "Bash", input: { command: "echo one" } },
  { type: "tool_use", id: "toolu_3", name: "Bash", input: { command: "echo asked" } },
  { type: "tool_use", id: "toolu_4", name: "Bash", input: { command: "echo the pin is 4711" } }
]

/** The results that the model has read. */
let results: ReadonlyArray<unknown> = []

const server = createServer((request, response) => {
  let body = ""
  request.on("data", (piece) => body += String(piece))
  request.on("end", () => {
    const { messages = [], tools = [] } = body === "" ? {} : JSON.parse(body)
    const text = JSON.stringify(messages)
    const isAgent = tools.some(({ name }: { readonly name: string }) => name === "Bash")
    if (isAgent) results = messages.flatMap(({ content }: { readonly content: unknown }) => content)
    const blocks = isAgent && !text.includes("toolu_1") ? calls : [{ type: "text", text: "done" }]
    sendMessage(response, blocks)
  })
})
await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))

const careful = defineHook({
  name: "careful",
  preToolCall: (call, ctx) => {
    const { command } = call.args as { readonly command: string }
    if (command.includes("leak")) return HookAction.reject("no leaks")
    if (command === "echo one") {
      ctx.inject("be careful")
      return HookAction.transform({ ...call, args: { command: "echo two" } })
    }
    return command === "echo asked" ? HookAction.ask("really?") : undefined
  },
  postToolCall: ({ result }) =>
    result.ok && JSON.stringify(result.output).includes("4711")
      ? HookAction.transform({ ok: true, output: { stdout: "[pin]", stderr: "", interrupted: false, isImage: false } })
      : undefined
})
const guarded = ClaudeAgent.make(Guard.make({ hooks: [careful], log: false }))
const asked: Array<string> = []
const folder = process.argv[2]!
const options: Options = guarded.options({
  cwd: folder,
  settingSources: [],
  settings: { permissions: { allow: ["Bash"] } },
  canUseTool: async (name, input, { decisionReason }) => {
    asked.push(`${name} ${JSON.stringify(input)}: ${decisionReason}`)
    return await Promise.resolve({ behavior: "allow" as const, updatedInput: input })
  },
  env: {
    PATH: process.env["PATH"]!,
    HOME: folder,
    CLAUDE_CONFIG_DIR: `${folder}/config`,
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1"
  }
})
let answer = ""
for await (const message of query({ prompt: "go", options })) {
  if (message.type === "result") answer = message.subtype === "success" ? message.result : message.subtype
}
server.close()
const parts = results.filter((part) => typeof part !== "string") as ReadonlyArray<Readonly<Record<string, unknown>>>
const read = parts.filter(({ type }) => type === "tool_result").map(({ content }) => content)
console.log(JSON.stringify({ answer, asked, read, context: JSON.stringify(results).includes("be careful") }))
process.exit()
