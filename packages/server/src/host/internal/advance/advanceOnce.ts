/** Lets a session be advanced by one caller at a time in this process. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { Site } from "../site/site.ts"
import { advanceSession } from "./advance.ts"

/**
 * Returns a function that advances a session. A second call waits for the first, and then looks again. After `sliceMs`
 * milliseconds, the session wakes itself for what is left, so that others get their turn.
 */
export const advanceOnce = (site: Site): (sessionId: string, sliceMs?: number) => Effect.Effect<void, unknown> => {
  const busy = new Map<string, Deferred.Deferred<void>>()
  const advance = (sessionId: string, sliceMs = Infinity): Effect.Effect<void, unknown> =>
    Effect.suspend(() => {
      const other = busy.get(sessionId)
      if (other !== undefined) return Effect.andThen(Deferred.await(other), advance(sessionId, sliceMs))
      const ended = Deferred.makeUnsafe<void>()
      busy.set(sessionId, ended)
      return Effect.ensuring(
        advanceSession(site, sessionId, sliceMs),
        Effect.sync(() => {
          busy.delete(sessionId)
          Deferred.doneUnsafe(ended, Effect.void)
        })
      )
    })
  return advance
}
