/** The `mcp.json` of a repository starts its own servers, and its hooks call their tools. */
import { HookFiles } from "@belay/hook-files"
import { createAgent, McpServers, Message, OpenAiCompatible } from "@belay/sdk"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const home = mkdtempSync(join(tmpdir(), "base-coat-"))
const cwd = join(home, "project")
const file = join(cwd, "mcp.json")
mkdirSync(cwd)
// A server with one tool, which answers as a hook.
writeFileSync(
  join(cwd, "memory.mjs"),
  `import { createInterface } from "node:readline"
const hook = { action: "injectContext", additionalContext: ["The tests need port 5433."] }
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "memory", version: "1.0.0" }
  }),
  "tools/list": () => ({ tools: [{ name: "load", inputSchema: { type: "object" } }] }),
  "tools/call": () => ({ content: [{ type: "text", text: JSON.stringify(hook) }] })
}
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method]?.(params) ?? {} }))
}`
)
writeFileSync(
  file,
  JSON.stringify({
    mcpServers: { memory: { command: process.execPath, args: ["memory.mjs"], cwd } },
    // The server starts at the first call. Without `timeout`, a hook has three seconds.
    hooks: { SessionStart: [{ tool: "memory.load", priority: 10, timeout: 30 }] }
  })
)

// The decision covers the servers too, so a change of them asks again.
for (const { commands, trust } of HookFiles.load({ cwd, home, trust: join(home, "trust") }).untrusted) {
  for (const { command, event } of commands) console.log(`trusting ${event}: ${command}`)
  trust()
}
const { hooks, untrusted } = HookFiles.load({ cwd, home, trust: join(home, "trust") })
const { servers } = McpServers.fromFile(readFileSync(file, "utf8"), file)
const mcp = McpServers.make(untrusted.length === 0 ? servers : {})
const agent = createAgent({ provider: OpenAiCompatible.fromEnv(), cwd, mcp, hooks })
const { messages } = await agent.run("Which port do the tests need?")
console.log(messages.map(Message.text).find((text) => text.includes("5433")))
await agent.close()
await mcp.close()
rmSync(home, { recursive: true })
