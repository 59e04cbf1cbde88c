/** The answer of an entry of a settings file. */
import type { Json, JsonObject } from "@belay/core/Json"
import type * as Dialect from "../../../engine/Dialect.ts"

/** What one entry answered, without the details of its format. @category models @since 0.1.0 */
export interface Answer extends Dialect.Answer {
  /** The reason why the operation is blocked. Absent if it is not blocked. */
  readonly blocked?: string
  /** The reason why the turn ends (`continue: false`). Absent if it does not end. */
  readonly stop?: string
  readonly permission?: "allow" | "ask" | "defer"
  readonly permissionReason?: string
  /** The entry was refused and did not run. `permission` then asks a person. */
  readonly isRefused?: true
  readonly updatedInput?: JsonObject
  readonly updatedOutput?: Json
  /** The new output of a tool of an MCP server. Ignored for other tools. */
  readonly updatedMcpOutput?: Json
  readonly retry?: boolean
  /** The user does not read the messages of this entry. */
  readonly suppressOutput?: true
  /** The permission is denied, and the turn ends. */
  readonly interrupt?: boolean
  /** Permission rules that the host may add. */
  readonly permissions?: Json
  /** The title of the session. */
  readonly title?: string
  /** A control sequence for the terminal. It can only set a title, send a notification or ring the bell. */
  readonly terminal?: string
  /** The files that the host should watch for changes. */
  readonly watch?: ReadonlyArray<string>
  /**
   * The answer to a signal of the host: an object with `worktreePath`, with `displayContent`, or with `action` and
   * `content`.
   */
  readonly answer?: JsonObject
  /** Texts that the model reads. */
  readonly context: ReadonlyArray<string>
}

/** The answer of an entry that succeeded and decided nothing. @category models @since 0.1.0 */
export const silent: Answer = { outcome: "success", context: [], messages: [], problems: [] }
