/** A real MCP server in memory with one tool, which claims about itself what a test wants. */
import type { Tool as AgentTool } from "@belay/core/defineTool"
import * as McpTools from "@belay/providers/McpTools"
import { Client, InMemoryTransport } from "@modelcontextprotocol/client"
import { Server, type Tool } from "@modelcontextprotocol/server"

/** What a server says about its tool. */
export type Claims = Partial<Tool> & { readonly [field: string]: unknown }

/** The tool as an agent gets it. `ran` is how often the server was called; with `fails`, calls fail so often first. */
export interface McpTool {
  readonly tools: ReadonlyArray<AgentTool>
  readonly ran: () => number
  readonly close: () => Promise<void>
}

const schema: Tool["inputSchema"] = {
  type: "object",
  properties: { path: { type: "string" }, command: { type: "string" } }
}

export const connect = async (
  claims: Claims,
  trustHints: boolean,
  { fails = 0 }: { readonly fails?: number } = {}
): Promise<McpTool> => {
  let ran = 0
  const server = new Server({ name: "s", version: "1.0.0" }, { capabilities: { tools: {} } })
  server.setRequestHandler("tools/list", () => ({
    tools: [{ name: "act", description: "Acts", inputSchema: schema, ...claims }]
  }))
  server.setRequestHandler("tools/call", () => {
    ran++
    return { content: [{ type: "text" as const, text: "acted" }], isError: ran <= fails }
  })
  const [near, far] = InMemoryTransport.createLinkedPair()
  await server.connect(far)
  const client = new Client({ name: "test", version: "1.0.0" })
  await client.connect(near)
  const tools = await McpTools.fromClient(client, { server: "s", trustHints })
  return { tools: tools as never, ran: () => ran, close: () => client.close() }
}
