/**
 * Calls tools of MCP servers for hooks (`ctx.mcp`), and decides which servers there are.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { JsonObject } from "../data/Json.ts"
import type { McpResult, McpTool } from "../data/Mcp.ts"

/** @category models @since 0.1.0 */
export interface McpAccessor {
  /**
   * Calls a tool by the name that its server gives it. A tool that failed is a result. Interruption cancels the call.
   */
  readonly callTool: (server: string, tool: string, args: JsonObject) => Effect.Effect<McpResult, unknown>
  /** The tools of one server, or of all. */
  readonly listTools: (server?: string) => Effect.Effect<ReadonlyArray<McpTool>, unknown>
}
