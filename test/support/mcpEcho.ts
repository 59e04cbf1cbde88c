/** A small MCP server over stdio for tests. It reports its process, and fails on request. */
import { Server, type Tool } from "@modelcontextprotocol/server"
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio"
import process from "node:process"

const [, , how] = process.argv
if (how === "broken") {
  process.stderr.write("starting\nno licence found\n")
  process.exit(1)
}
if (how === "mute") await new Promise((resolve) => process.stdin.on("end", resolve).resume())

const tool = (name: string): Tool => ({ name, description: `The tool ${name}`, inputSchema: { type: "object" } })
const tools = ["pid", "echo", "env", "cwd", "fail", "crash", "slow", "large", "slowed", "cancelled"].map(tool)
const text = (said: string) => ({ content: [{ type: "text" as const, text: said }] })
let slowed = 0
let cancelled = 0

const server = new Server({ name: "echo", version: "1.0.0" }, { capabilities: { tools: {} } })
server.setRequestHandler("tools/list", () => ({ tools }))
server.setRequestHandler("tools/call", async ({ params: { arguments: args = {}, name } }, { mcpReq: { signal } }) => {
  switch (name) {
    case "pid":
      return text(String(process.pid))
    case "echo":
      return { ...text("structured"), structuredContent: args }
    case "env":
      return text(JSON.stringify(process.env))
    case "cwd":
      return text(process.cwd())
    case "fail":
      return { ...text("the disk is full"), isError: true }
    case "crash":
      return process.exit(3)
    case "large":
      return text("x".repeat(2_000_000))
    case "slow":
      slowed++
      await new Promise((resolve) => signal.addEventListener("abort", resolve))
      cancelled++
      return text("too late")
    case "slowed":
      return text(String(slowed))
    case "cancelled":
      return text(String(cancelled))
    default:
      throw new Error(`no such tool: ${name}`)
  }
})
await server.connect(new StdioServerTransport())
