/** What a command does when the process is asked to end. */
import * as Effect from "effect/Effect"

/** How long the process may take to end after its turns had to stop, in milliseconds. */
export const graceMs = 5_000

/** How long a second signal counts as the first one, in milliseconds. A terminal and a parent may send both. */
const sameMs = 250

let stop: (() => void) | undefined
let stoppedAt = -Infinity

/** Succeeds when the process is asked to end for the first time. The next signal ends it at once. */
export const firstSignal: Effect.Effect<void> = Effect.callback((resume) => {
  stop = () => resume(Effect.void)
  return Effect.sync(() => void (stop = undefined))
})

let hasFailed = false

/** Runs a server. If it fails, the process has to end, although what it has started may keep running. */
export const endingProcess = <A, E, R>(server: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.tapCause(server, () => Effect.sync(() => void (hasFailed = true)))

/** Whether the command that runs was asked to end, or is a server that has failed. */
export const mustEnd = (): boolean => stoppedAt > 0 || hasFailed

/** Handles a signal. Returns false if the process has to end now. */
export const takeSignal = (): boolean => {
  const time = performance.now()
  if (stop === undefined) return time - stoppedAt < sameMs
  stoppedAt = time
  stop()
  stop = undefined
  return true
}
