/** What another process may have done to a session, and the errors about it. */
import { PortFailed, SessionError } from "../../../data/AgentError.ts"
import type { Waiting } from "../../../data/Waiting.ts"
import { conflict } from "../../../port/SessionStore.ts"
import type { SessionState } from "../session/sessionState.ts"

/** Whether a turn still waits, so that no other process has continued it. */
export const isStillThere = (waiting: Waiting): boolean =>
  waiting.type === "people" || waiting.type === "limit" || (waiting.type === "process" && waiting.why === "parked")

/** The error of a waiting turn that another process has continued. */
export const continuedElsewhere = (id: string, before: SessionState, revision: number): PortFailed => {
  const message = `turn ${before.turnNumber} of session ${id} was continued by another process, so it cannot be ` +
    "resumed here. The session was loaded again: read `waiting` to see what it waits for now"
  return new PortFailed({ port: "store", message, cause: conflict(id, before.revision + 1, revision) })
}

/** The error of a session in which another process seems to run a turn. */
export const busyElsewhere = (sessionId: string, turnNumber: number): SessionError =>
  new SessionError({
    sessionId,
    problem: "busy",
    message: `session ${sessionId} is busy: another process began turn ${turnNumber}, and runs it or has ended. ` +
      "Wait for it, continue it with `resume`, or call `run` again to close it"
  })

/** Whether a session can be replaced: no turn runs in it, and it is not closed. */
export const isIdle = ({ status }: SessionState): boolean => status === "new" || status === "idle"
