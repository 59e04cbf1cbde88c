/**
 * Tools of MCP servers and their results, as plain data for hooks.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "../Json.ts"

/** The result of an MCP tool, in the format of the protocol. @category models @since 0.1.0 */
export interface McpResult {
  /** Content blocks such as `{ type: "text", text: "..." }`. */
  readonly content: ReadonlyArray<JsonObject>
  readonly structuredContent?: JsonObject
  /** Whether the tool failed; `content` then has the error message. */
  readonly isError: boolean
}

/** A tool of an MCP server. @category models @since 0.1.0 */
export interface McpTool {
  readonly server: string
  /** The name of the tool on its server. */
  readonly name: string
  readonly description?: string
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonObject
}
