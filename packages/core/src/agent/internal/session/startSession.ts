/** Starts a session before its first turn: initialises the core, then runs the `onSessionStart` hooks. */
import * as Effect from "effect/Effect"
import { type AgentError, PortFailed } from "../../../data/AgentError.ts"
import { messageOf } from "../../../data/ErrorMessage.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import { askHooks } from "../turn/askHooks.ts"
import type { Turn } from "../turn/turn.ts"
import { stopOf } from "../turn/turnEnd.ts"
import type { Step } from "../turn/yieldable.ts"
import { addMessages } from "./addMessages.ts"

/** If the start fails, the next turn tries it again. */
export const startSession = function*(turn: Turn, resumed: boolean): Step<void, AgentError | TurnEnded> {
  const { agent: { core }, io, session } = turn
  const source = resumed ? "resume" : session.source
  if (core.init !== undefined) {
    turn.sessionStartFailed = true
    yield* Effect.mapError(core.init(session.id), (cause) => {
      const message = `the core could not be initialised: ${messageOf(cause)}`
      return new PortFailed({ port: core.coreType, message, cause })
    })
    turn.sessionStartFailed = false
  }
  // For hooks, a sub-agent works in the session of the agent that delegated to it.
  if (turn.parent !== undefined) return
  const outcome = yield* askHooks(turn, "onSessionStart", { sessionId: session.id, source, context: [] })
  const stop = stopOf("onSessionStart", outcome)
  if (stop !== undefined) {
    turn.sessionStartFailed = true
    return yield* stop
  }
  if (outcome !== undefined) addMessages(turn, outcome.event.context, outcome.by ?? "runtime")
  io.publish({ type: "session-start", source })
}
