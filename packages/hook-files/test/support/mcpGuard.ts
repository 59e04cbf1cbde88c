/** An MCP server over stdio, for tests, whose tools are hooks of Base Coat and what stored hooks look things up in. */
import { Server, type Tool } from "@modelcontextprotocol/server"
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio"

type Args = { readonly [key: string]: unknown }

const text = (said: unknown) => ({
  content: [{ type: "text" as const, text: typeof said === "string" ? said : JSON.stringify(said) }]
})

/** The envelope is the arguments. */
const tools: { readonly [name: string]: (args: Args) => object } = {
  load_session_memory: ({ repository, sessionId }) =>
    text({
      action: "injectContext",
      additionalContext: [`Memory of ${String(repository)}`],
      metadata: { hookId: "memory", sessionId }
    }),
  check_command: ({ tool }) => {
    const { input } = tool as { readonly input: { readonly command?: string } }
    const blocked = input.command?.includes("deploy") === true
    const structuredContent = blocked
      ? { action: "block", reason: "deploys go through the pipeline" }
      : { action: "passThrough" }
    return { ...text("structured"), structuredContent }
  },
  broken: () => ({ ...text("the policy service is down"), isError: true }),
  prose: () => text("looks good to me"),
  account: ({ id }) => ({ ...text("structured"), structuredContent: { id, status: "past due", invoices: [7, 8] } }),
  calendar: ({ day }) => text({ day, meetings: day === "2026-01-01" ? [] : ["standup"] })
}

const server = new Server({ name: "guard", version: "1.0.0" }, { capabilities: { tools: {} } })
server.setRequestHandler("tools/list", () => ({
  tools: Object.keys(tools).map((name): Tool => ({
    name,
    description: `The tool ${name}`,
    inputSchema: { type: "object" }
  }))
}))
server.setRequestHandler("tools/call", ({ params: { arguments: args = {}, name } }) => {
  const found = Object.hasOwn(tools, name) ? tools[name] : undefined
  if (found === undefined) throw new Error(`no such tool: ${name}`)
  return found(args) as ReturnType<typeof text>
})
await server.connect(new StdioServerTransport())
