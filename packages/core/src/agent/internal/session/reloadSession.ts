/** Keeps an open session current: makes it again when another process has changed it. */
import type { RunState } from "../../../data/RunState.ts"
import { sessionOf } from "../../../guard/internal/io/resumeSession.ts"
import type { SessionState } from "../../../guard/internal/state/sessionState.ts"

/** Makes the session again from a newer state. */
export const replaceSession = (before: SessionState, state: RunState): SessionState => {
  const session = sessionOf(state, { stored: true })
  session.lastEvent = Math.max(before.lastEvent, session.lastEvent)
  session.status = before.status
  return session
}
