/**
 * Tools of MCP servers as hooks see them: plain data.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "./Json.ts"

/** What a tool of an MCP server answered, as the protocol has it. @category models @since 0.1.0 */
export interface McpResult {
  /** Parts such as `{ type: "text", text: "..." }`. */
  readonly content: ReadonlyArray<JsonObject>
  readonly structuredContent?: JsonObject
  /** The tool ran and failed; `content` says why. */
  readonly isError: boolean
}

/** A tool that an MCP server has. @category models @since 0.1.0 */
export interface McpTool {
  readonly server: string
  /** As the server calls it. */
  readonly name: string
  readonly description?: string
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonObject
}
