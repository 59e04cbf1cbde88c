/** Waits for the outcome of an entry. */
import { type Entry, isFinished } from "@belay/core/Inbox"
import * as Effect from "effect/Effect"
import { HostError } from "../HostError.ts"
import * as Outcome from "../Outcome.ts"
import type { Site } from "./site/site.ts"

/** How long to wait after the inbox could not be read, in polls. */
const retries = 20

/** Succeeds when an entry is finished, or waits for people and nobody has decided. */
export const awaitOutcome = (
  site: Site,
  sessionId: string,
  key: string
): Effect.Effect<Outcome.Outcome, HostError> =>
  Effect.suspend(() => {
    const { pollMs } = site
    let failures = 0
    let look = (): void => {}
    let hasChanged = false
    const listener = () => {
      hasChanged = true
      look()
    }
    const change = Effect.callback<void>((resume) => {
      if (hasChanged) return resume(Effect.void)
      look = () => resume(Effect.void)
    })
    const next = Effect.raceFirst(Effect.sleep(pollMs), change)
    const read: Effect.Effect<Outcome.Outcome, HostError> = Effect.suspend(() => {
      hasChanged = false
      return Effect.matchEffect(outcomeNow(site, sessionId, key), {
        onSuccess: (outcome) => outcome === undefined ? Effect.andThen(next, read) : Effect.succeed(outcome),
        onFailure: (cause): Effect.Effect<Outcome.Outcome, HostError> => {
          if (cause instanceof HostError) return Effect.fail(cause)
          if (++failures <= retries) return Effect.andThen(Effect.sleep(pollMs), read)
          const message = `the inbox cannot be read: ${String(Object(cause).message ?? cause)}`
          return Effect.fail(new HostError({ problem: "store", sessionId, key, message, cause }))
        }
      })
    })
    return Effect.ensuring(
      Effect.andThen(Effect.sync(() => listen(site, sessionId, listener)), read),
      Effect.sync(() => forget(site, sessionId, listener))
    )
  })

const outcomeNow = (
  { inbox }: Site,
  sessionId: string,
  key: string
): Effect.Effect<Outcome.Outcome | undefined, unknown> =>
  Effect.gen(function*() {
    const entry = yield* inbox.get(sessionId, key)
    if (entry === undefined) {
      const message = `session ${sessionId} has no message with the key ${key}: it was never sent, or was pruned`
      return yield* new HostError({ problem: "unknown", sessionId, key, message })
    }
    const outcome = Outcome.fromJson(entry.outcome)
    if (isFinished(entry)) return outcome ?? (yield* unreadable(sessionId, key))
    if (entry.status !== "suspended") return undefined
    // Somebody has decided, so the outcome will change.
    const open: ReadonlyArray<Entry> = yield* inbox.open(sessionId)
    return open.some(({ kind }) => kind === "decide" || kind === "cancel")
      ? undefined
      : outcome
  })

const unreadable = (sessionId: string, key: string): HostError => {
  const message = `the outcome of ${key} in session ${sessionId} cannot be read: look at its row in the store`
  return new HostError({ problem: "store", sessionId, key, message })
}

const listen = ({ listeners }: Site, sessionId: string, listener: () => void): void => {
  const known = listeners.get(sessionId) ?? new Set()
  listeners.set(sessionId, known.add(listener))
}

const forget = ({ listeners }: Site, sessionId: string, listener: () => void): void => {
  const known = listeners.get(sessionId)
  known?.delete(listener)
  if (known?.size === 0) listeners.delete(sessionId)
}
