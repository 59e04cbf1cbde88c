/** Notifies the user that entries may not run, because a person has to know that a check is off. */
import type { HookContext } from "@belay/core/HookContext"
import * as Effect from "effect/Effect"

/** Returns the reason why an entry may not run now. */
export type Refuse<E> = ((entry: E) => string | undefined) & {
  /** Waits until the function knows of everything that has happened. Absent if it always does. */
  readonly ready?: () => Promise<void> | undefined
}

export const refusalOf = <E>(refuse: Refuse<E> | undefined, entry: E): Effect.Effect<string | undefined> =>
  Effect.suspend(() => {
    const ready = refuse?.ready?.()
    const asked = Effect.sync(() => refuse?.(entry))
    return ready === undefined ? asked : Effect.andThen(Effect.promise(() => ready), asked)
  })

// Hooks of several systems share one `refuse` function, and the user reads its reason once in each session.
const sessionsOf = new WeakMap<object, Set<string>>()

const maxSessions = 1_000

/** Sends the user one message per session and `refuse` function. */
export const notifyRefusal = (refuse: object, file: string, reason: string, ctx: HookContext): void => {
  const sessions = sessionsOf.get(refuse) ?? new Set()
  sessionsOf.set(refuse, sessions)
  if (sessions.has(ctx.root.sessionId)) return
  if (sessions.size === maxSessions) sessions.clear()
  sessions.add(ctx.root.sessionId)
  ctx.notifyUser(`Hooks of ${file} do not run: ${reason}.`)
}
