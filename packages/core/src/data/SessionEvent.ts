/**
 * The beginning and the end of a session.
 *
 * @since 0.1.0
 */
import type { Message } from "./Message.ts"

/** A session about to start: what `onSessionStart` hooks receive and may change. @category models @since 0.1.0 */
export interface OnSessionStartEvent {
  readonly sessionId: string
  readonly source: "startup" | "resume" | "rotate"
  /** The session that this one continues, when it was rotated. */
  readonly previous?: string
  /** Messages the session begins with. */
  readonly context: ReadonlyArray<Message>
}

/** Why a session ended: what `onSessionEnd` hooks receive. @category models @since 0.1.0 */
export interface OnSessionEndEvent {
  readonly sessionId: string
  readonly reason: "done" | "error" | "rotate" | "abort"
}
