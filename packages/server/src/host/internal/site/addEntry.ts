/** Adds what was sent to the inbox. */
import { type Capacity, type Inbox, isFinished } from "@belay/core/Inbox"
import * as Effect from "effect/Effect"
import { HostError } from "../../HostError.ts"
import { stored, wrongInput } from "./readInput.ts"
import type { Site } from "./site.ts"

/** What was added. @category models @since 0.1.0 */
export interface Sent {
  readonly key: string
  /** `known`: it was there already, so nothing was added. */
  readonly type: "added" | "known"
}

/**
 * How much the clock of another process may be behind, in milliseconds. What is due at once is stored as due for that
 * long. A process that is a little behind would begin a later message first otherwise.
 */
export const clockErrorMs = 5_000

/** Adds an entry and wakes its session. A key that is known wakes it again, because the first call may have failed. */
export const adding = ({ engine, inbox, running, time: now }: Site) =>
(
  given: Parameters<Inbox["add"]>[0],
  capacity?: Capacity
): Effect.Effect<Sent, HostError> =>
  Effect.gen(function*() {
    const { key, sessionId } = given
    if (typeof key !== "string" || key === "") return yield* wrongInput(sessionId, "the key must be a text")
    const time = yield* now
    const added = yield* stored(inbox.add({ ...given, at: given.at === 0 ? time - clockErrorMs : given.at }, capacity))
    if (added.type === "full") {
      const { limit } = added
      const message = `the message to session ${sessionId} was not added, because capacity.${limit} is ` +
        `${String(capacity?.[limit])} and as many wait: send it again later, or raise the limit`
      return yield* new HostError({ problem: "full", sessionId, key, limit, message })
    }
    const { at } = added.entry
    yield* stored(engine.wake(sessionId, at > time ? at : undefined))
    running.get(sessionId)?.look()
    return { key, type: added.type }
  })

/**
 * Adds a cancellation. An earlier one may be done although its message is not: the message was sent, or let wait again,
 * after that. Then another one is added.
 */
export const addingCancellation = (site: Site) => {
  const add = adding(site)
  const { inbox } = site
  return (sessionId: string, key: string): Effect.Effect<Sent, HostError> =>
    Effect.gen(function*() {
      const cancellation = { sessionId, key: `cancel ${key}`, kind: "cancel", body: key, at: 0 } as const
      const sent = yield* add(cancellation)
      if (sent.type === "added") return sent
      const known = yield* stored(inbox.get(sessionId, sent.key))
      if (known === undefined || !isFinished(known)) return sent
      const target = yield* stored(inbox.get(sessionId, key))
      if (target === undefined || isFinished(target)) return sent
      return yield* add({ ...cancellation, key: `cancel ${crypto.randomUUID()} ${key}` })
    })
}
