/** Ends a waiting turn without running it. */
import * as Effect from "effect/Effect"
import type { PortFailed, SessionError, SnapshotError } from "../../../data/AgentError.ts"
import type { RunState } from "../../../data/RunState.ts"
import type { Waiting } from "../../../data/Waiting.ts"
import type { SessionState } from "../../../guard/internal/state/sessionState.ts"
import { busyElsewhere } from "./otherProcess.ts"

/** What is needed of the handle of a session. */
interface Handle {
  readonly session: SessionState
  readonly waiting: Waiting
  /** Loads the session again if another process has changed it. Succeeds with the state that was loaded. */
  readonly refresh: Effect.Effect<RunState | undefined, PortFailed | SnapshotError>
}

/** Ends the waiting turn of the newest state, and saves that. Succeeds with false if no turn waits. */
export const abandonTurn = (
  handle: Handle,
  reason = "not run: the turn was abandoned"
): Effect.Effect<boolean, SessionError | PortFailed | SnapshotError> =>
  Effect.flatMap(handle.refresh, (newer): Effect.Effect<boolean, SessionError | PortFailed> => {
    const { session, waiting: now } = handle
    const { waiting } = session
    if (waiting === undefined) return Effect.succeed(false)
    if (newer !== undefined && now.type === "process" && now.why === "left") return busyElsewhere(newer)
    const ended = Effect.map(waiting.end(reason), () => {
      session.waiting = undefined
      return true
    })
    const reload = (error: PortFailed) => Effect.andThen(Effect.ignore(handle.refresh), Effect.fail(error))
    return Effect.catch(ended, reload)
  })
