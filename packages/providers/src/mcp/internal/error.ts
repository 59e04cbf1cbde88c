/** The error of an MCP server. */
import { TaggedError } from "@belay/core/TaggedError"
import * as Schema from "effect/Schema"

/**
 * A server broke the protocol, or a tool of it failed. The message of a failed tool is the text of the server.
 *
 * @category errors
 * @since 0.1.0
 */
export class McpError extends TaggedError<McpError>()("McpError", {
  server: Schema.String,
  /** Name of the tool, as the server lists it. */
  tool: Schema.optionalKey(Schema.String),
  message: Schema.String,
  /**
   * Set if the connection failed: `not-sent` if the server did not get the call, and `unknown` if the call may have
   * run.
   */
  fate: Schema.optionalKey(Schema.Literals(["not-sent", "unknown"]))
}) {}
