/** What another process may have done to a session, and the errors about it. */
import { PortFailed, SessionError } from "../../../data/AgentError.ts"
import type { RunState } from "../../../data/RunState.ts"
import type { TurnInput } from "../../../data/Turn.ts"
import type { Waiting } from "../../../data/Waiting.ts"
import type { SessionState } from "../../../guard/internal/state/sessionState.ts"
import { conflict } from "../../../port/SessionStore.ts"

/** Whether a turn still waits, so that no other process has continued it. */
export const isStillThere = (waiting: Waiting): boolean =>
  waiting.type === "people" || waiting.type === "limit" || (waiting.type === "process" && waiting.why === "parked")

/** The error of a waiting turn that another process has continued. */
export const continuedElsewhere = (id: string, before: SessionState, revision: number): PortFailed => {
  const message = `turn ${before.turnNumber} of session ${id} was continued by another process, so it cannot be ` +
    "resumed here. The session was loaded again: read `waiting` to see what it waits for now"
  return new PortFailed({ port: "store", message, cause: conflict(id, before.revision + 1, revision) })
}

/** Whether a conversation has a message with the key of this input. */
export const hasKey = ({ messages }: Pick<RunState, "messages">, { key }: Pick<TurnInput, "key">): boolean =>
  key !== undefined && messages.some((message) => message.role === "user" && message.key === key)

/**
 * The error of a turn that cannot begin because of what another process did, which is in `newer`. The key of the input
 * is given if the message was new here.
 */
export const runElsewhere = (
  newer: RunState,
  waiting: Waiting,
  { key }: Pick<TurnInput, "key">
): PortFailed | SessionError | undefined => {
  const { input, revision, sessionId } = newer
  if (key !== undefined && (input.key === key || hasKey(newer, { key }))) {
    const message = `another process has run the message with the key ${key} in session ${sessionId}, so it is not ` +
      "run again. The session was loaded again: read its messages"
    return new PortFailed({ port: "store", message, cause: conflict(sessionId, revision, revision) })
  }
  return waiting.type === "process" && waiting.why === "left" ? busyElsewhere(newer) : undefined
}

/** The error of a session in which another process seems to run a turn. */
export const busyElsewhere = ({ sessionId, turnNumber }: RunState): SessionError =>
  new SessionError({
    sessionId,
    problem: "busy",
    message: `session ${sessionId} is busy: another process began turn ${turnNumber}, and runs it or has ended. ` +
      "Wait for it, continue it with `resume`, or call `run` again to close it"
  })

/** Whether a session can be replaced: no turn runs in it, and it is not closed. */
export const isIdle = ({ status }: SessionState): boolean => status === "new" || status === "idle"
