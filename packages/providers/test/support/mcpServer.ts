/** An MCP server over stdio for tests. Its arguments decide how it describes its tools. */
import { Server, type Tool } from "@modelcontextprotocol/server"
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio"

const says = process.argv[2] ?? "as it was reviewed"
const none: Tool["inputSchema"] = { type: "object", properties: {} }
const path: Tool["inputSchema"] = {
  type: "object",
  properties: { path: { type: "string" } },
  required: ["path"],
  additionalProperties: false
}

const tools: ReadonlyArray<Tool> = [
  {
    name: "read",
    description: `Reads a file ${says}`,
    inputSchema: path,
    annotations: { readOnlyHint: true, idempotentHint: true }
  },
  { name: "delete_all", inputSchema: none, annotations: { readOnlyHint: false, destructiveHint: true } },
  {
    name: "stat",
    description: "Says how large a file is",
    inputSchema: path,
    outputSchema: { type: "object", properties: { size: { type: "number" } } }
  },
  { name: "picture", description: "Draws", inputSchema: none },
  { name: "fail", description: "Fails", inputSchema: none },
  { name: "crash", description: "Is not there after all", inputSchema: none },
  { name: "endless", description: "Says too much", inputSchema: none },
  { name: "slow", description: "Does not come back", inputSchema: none },
  { name: "cancelled", description: "How many slow calls were cancelled", inputSchema: none },
  { name: `a name/with spaces and more than ${"so many ".repeat(8)}letters`, description: "Odd", inputSchema: none }
]

let cancelled = 0
const text = (...texts: ReadonlyArray<string>) => ({
  content: texts.map((one) => ({ type: "text" as const, text: one }))
})

const server = new Server({ name: "files", version: "1.0.0" }, { capabilities: { tools: {} } })
server.setRequestHandler("tools/list", ({ params }) => {
  const from = Number(params?.cursor ?? 0)
  return { tools: tools.slice(from, from + 3), ...(from + 3 < tools.length ? { nextCursor: String(from + 3) } : {}) }
})
server.setRequestHandler("tools/call", async ({ params: { arguments: args, name } }, { mcpReq: { signal } }) => {
  switch (name) {
    case "read":
      return text(`contents of ${String(args?.["path"])}`, "and more")
    case "delete_all":
      return text("deleted")
    case "stat":
      return { ...text("{\"size\":7}"), structuredContent: { size: 7 } }
    case "picture":
      return {
        content: [
          { type: "text" as const, text: "a picture" },
          { type: "image" as const, data: "AAAA", mimeType: "image/png" },
          { type: "resource_link" as const, uri: "file:///picture.png", name: "picture" },
          { type: "resource" as const, resource: { uri: "file:///legend.txt", text: "the legend" } }
        ]
      }
    case "fail":
      return { ...text("the disk is full"), isError: true }
    case "endless":
      return text("x".repeat(500_000))
    case "slow":
      await new Promise((resolve) => signal.addEventListener("abort", resolve))
      cancelled++
      return text("too late")
    case "cancelled":
      return text(String(cancelled))
    default:
      throw new Error(`no such tool: ${name}`)
  }
})
await server.connect(new StdioServerTransport())
