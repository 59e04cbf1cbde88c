/** Notifies the user that entries may not run, because a person has to know that a check is off. */
import type { HookContext } from "@belay/core/HookContext"

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
