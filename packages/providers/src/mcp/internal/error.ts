/** What goes wrong with a server. */
import * as Schema from "effect/Schema"

/**
 * A server said something that is not the protocol, or its tool failed. The message of a failed tool is the server's.
 *
 * @category errors
 * @since 0.1.0
 */
export class McpError extends Schema.TaggedError<McpError>()("McpError", {
  server: Schema.String,
  /** As the server calls it. */
  tool: Schema.optionalKey(Schema.String),
  message: Schema.String
}) {}
