/**
 * The start and the end of a session.
 *
 * @since 0.1.0
 */
import type { Message } from "./Message.ts"

/**
 * A session that is about to start: what `onSessionStart` hooks receive and may change.
 *
 * @category models
 * @since 0.1.0
 */
export interface OnSessionStartEvent {
  readonly sessionId: string
  readonly source: "startup" | "resume" | "rotate"
  /** The id of the session that this one continues after a rotation. */
  readonly previous?: string
  /** The size of the context window. Absent if the agent has none. */
  readonly windowTokens?: number
  /** The first messages of the session. */
  readonly context: ReadonlyArray<Message>
}

/** Why a session ended: what `onSessionEnd` hooks receive. @category models @since 0.1.0 */
export interface OnSessionEndEvent {
  readonly sessionId: string
  readonly reason: "done" | "error" | "rotate" | "abort"
}
