/**
 * Calls tools of MCP servers for hooks (`ctx.mcp`), and decides which servers they can use.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { JsonObject } from "../data/Json.ts"
import type { McpResult, McpTool } from "../data/tool/Mcp.ts"

/** Calls the tools of MCP servers for hooks. @category models @since 0.1.0 */
export interface McpAccessor {
  /**
   * Calls a tool by its name on the server. The failure of a tool is a result with `isError`. Interruption cancels the
   * call.
   */
  readonly callTool: (server: string, tool: string, args: JsonObject) => Effect.Effect<McpResult, unknown>
  /** Lists the tools of one server, or of all servers. */
  readonly listTools: (server?: string) => Effect.Effect<ReadonlyArray<McpTool>, unknown>
}
