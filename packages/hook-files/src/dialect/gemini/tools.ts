/** Maps tools to the names of Gemini CLI. */
import type { Json, JsonObject } from "@belay/core/Json"
import type { ToolMeta } from "@belay/core/Tool"
import * as Renamed from "../shared/renamedTools.ts"
import type { ToolNames } from "../shared/toolNames.ts"
import { builtIn, others } from "./wire.ts"

const mcp = /^mcp__(.+?)__(.+)$/

export const make = (configured: ToolNames): Renamed.Renamed =>
  Renamed.make({
    names: builtIn,
    others,
    fields: {},
    plain: (tool) => {
      const [, server, name] = mcp.exec(tool) ?? []
      return server === undefined ? tool : `mcp_${server}_${name}`
    }
  }, configured)

/** Returns the server and the tool if the name is that of an MCP tool. */
export const mcpOf = (tool: string): { readonly mcp_context?: JsonObject } => {
  const [, server, name] = mcp.exec(tool) ?? []
  return server === undefined ? {} : { mcp_context: { server_name: server, tool_name: name! } }
}

/** Converts input with the field names of Gemini CLI to the arguments of a tool. */
export const argsFor = (tools: Renamed.Renamed, tool: ToolMeta, input: JsonObject): Json => {
  const properties = Object.hasOwn(tool.inputSchema, "properties") ? tool.inputSchema["properties"] : undefined
  if (typeof properties !== "object" || properties === null) return input
  const empty = Object.fromEntries(Object.keys(properties).map((name) => [name, ""]))
  return tools.known(tool.name, empty, tool).back(input)
}
