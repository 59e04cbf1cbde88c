/**
 * The error of the ready-made tools. The model reads its message.
 *
 * @since 0.1.0
 */
import { TaggedError } from "@belay/core/TaggedError"
import * as Schema from "effect/Schema"

/** A tool did not do what it was asked to do. @category errors @since 0.1.0 */
export class ToolError extends TaggedError<ToolError>()("ToolError", {
  /** The name of the tool. */
  tool: Schema.String,
  /**
   * The reason. `arguments`: an argument has a wrong value. `outside`: the path leaves the folder. `missing`: there is
   * no such file. `content`: the file is not what the tool needs, such as a text. `limit`: too large or too slow.
   * `refused`: the address is not allowed. `failed`: the system or the server reported an error.
   */
  reason: Schema.Literals(["arguments", "outside", "missing", "content", "limit", "refused", "failed"]),
  message: Schema.String
}) {}
