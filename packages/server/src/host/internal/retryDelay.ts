/** How long an engine waits before it advances a session again whose last call has failed. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

const firstMs = 250
const lastMs = 60_000

/** Returns a delay in milliseconds that grows with the number of failures up to a minute. It has jitter. */
export const retryDelay = (failures: number): Effect.Effect<number> => {
  const ms = Math.min(firstMs * 2 ** (failures - 1), lastMs)
  return Random.nextBetween(ms / 2, ms)
}
