/**
 * `node:sqlite` blocks the event loop. A thousand sessions that are ready at the same time would block it until all of
 * them have waited for their models again, so the store lets other work in between.
 */
import * as Effect from "effect/Effect"
import { Scheduler } from "effect/Scheduler"

/** How long operations may follow each other without a turn of the event loop, in milliseconds. */
const maxTurnMs = 5

/** When the first operation of this turn of the event loop began. Module state: a process has one event loop. */
let turnBegan: number | undefined

const isTurnLong = (): boolean => {
  if (turnBegan === undefined) {
    turnBegan = performance.now()
    setImmediate(() => {
      turnBegan = undefined
    })
    return false
  }
  return performance.now() - turnBegan > maxTurnMs
}

/**
 * Runs an operation, after other work if the event loop has been busy with operations for a while. With
 * `Effect.runSync`, there can be no turn of the event loop in between.
 */
export const fairly = <A, E>(operation: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.flatMap(
    Scheduler,
    ({ executionMode }) =>
      executionMode === "async" && isTurnLong() ? Effect.andThen(Effect.yieldNow, fairly(operation)) : operation
  )
