/**
 * Stops a running turn at its next commit point, so that any process can continue it. The commit points are: before a
 * model call, before a tool starts, and after it has ended. What waits for people or for the next attempt of a model
 * call stops at once.
 */
import * as Effect from "effect/Effect"
import { endTurn } from "../../../guard/internal/state/turnEnd.ts"
import type { Step } from "../../../guard/internal/state/yieldable.ts"
import type { AgentTurn } from "./turnParts.ts"

/** Stops the turn before a model call, which gets the same step number when the turn is resumed. */
export const parkBeforeModel = function*(turn: AgentTurn): Step<never, Effect.Error<ReturnType<typeof endTurn>>> {
  turn.state.stepNumber--
  return yield* endTurn({ type: "parked" })
}
