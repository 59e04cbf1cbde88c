/** The answer of an entry of a settings file. */
import type { Json, JsonObject } from "@belay/core/Json"
import type * as Dialect from "../../Dialect.ts"

/** The answer of one entry. @category models @since 0.1.0 */
export interface Answer extends Dialect.Answer {
  /** Why the operation is blocked. */
  readonly blocked?: string
  /** `continue: false`: why the turn ends. */
  readonly stop?: string
  readonly permission?: "allow" | "ask" | "defer"
  readonly permissionReason?: string
  /** The entry may not run, and `permission` asks a person in its place. */
  readonly isRefused?: true
  readonly updatedInput?: JsonObject
  readonly updatedOutput?: Json
  /** Counts for tools of MCP servers only. */
  readonly updatedMcpOutput?: Json
  readonly retry?: boolean
  /** The user does not see the messages. */
  readonly suppressOutput?: true
  /** A permission is denied, and the turn ends. */
  readonly interrupt?: boolean
  /** Permission rules that the host may add. */
  readonly permissions?: Json
  /** The title of the session. */
  readonly title?: string
  /** A control sequence for the terminal: titles and notifications only. */
  readonly terminal?: string
  /** Files whose changes the entry wants to see. */
  readonly watch?: ReadonlyArray<string>
  /** The answer to a signal of the host: `worktreePath`, `displayContent`, `action` and `content`. */
  readonly answer?: JsonObject
  /** Texts for the model. */
  readonly context: ReadonlyArray<string>
}

/** An answer that says nothing. @category models @since 0.1.0 */
export const silent: Answer = { outcome: "success", context: [], messages: [], problems: [] }
