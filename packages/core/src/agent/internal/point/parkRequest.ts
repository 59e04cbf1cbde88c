/**
 * Stops a running turn at its next commit point, so that any process can continue it. The commit points are: before a
 * model call, before a tool starts, and after it has ended. What waits for people or for the next attempt of a model
 * call stops at once.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { endTurn } from "../state/turnEnd.ts"
import type { Step } from "../state/yieldable.ts"
import type { Turn } from "./turn.ts"

/** Waits until somebody asks the turn to stop. Nothing happens if nobody does. */
export const parkRequested = ({ root }: Turn): Effect.Effect<void> =>
  Effect.suspend(() => Deferred.await(root.parkRequest ??= Deferred.makeUnsafe()))

/** Stops the turn before a model call, which gets the same step number when the turn is resumed. */
export const parkBeforeModel = function*(turn: Turn): Step<never, Effect.Error<ReturnType<typeof endTurn>>> {
  turn.state.stepNumber--
  return yield* endTurn({ type: "parked" })
}
