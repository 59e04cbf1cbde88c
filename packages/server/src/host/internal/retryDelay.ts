/** What an engine does before it advances a session again whose last call has failed: it says so, and waits. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

const firstMs = 250
const lastMs = 60_000

/** Returns a delay in milliseconds that grows with the number of failures up to a minute. It has jitter. */
export const retryDelay = (failures: number): Effect.Effect<number> => {
  const ms = Math.min(firstMs * 2 ** (failures - 1), lastMs)
  return Random.nextBetween(ms / 2, ms)
}

/** Says that a session is advanced again. It is nothing to act on if the session belongs to another release. */
export const logRetry = (sessionId: string, cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  const log = isPinned(cause) ? Effect.logDebug : Effect.logWarning
  return log(`session ${sessionId} is advanced again later`, cause)
}

/** Whether a session was left alone because it belongs to another release. */
export const isPinned = (cause: Cause.Cause<unknown>): boolean => {
  const { _tag, problem } = Object(Cause.squash(cause)) as { readonly _tag?: unknown; readonly problem?: unknown }
  return _tag === "HostError" && problem === "pinned"
}
