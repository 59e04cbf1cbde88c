/** Tells the user that entries do not run: a guard that is off is for a person to know. */
import type { HookContext } from "@belay/core/HookContext"

/** By who refuses, as hooks of several systems are refused for the same reason: the sessions that were told. */
const told = new WeakMap<object, Set<string>>()

const maxTold = 1_000

/** Once a session. */
export const tellUser = (refuse: object, file: string, why: string, ctx: HookContext): void => {
  const sessions = told.get(refuse) ?? new Set()
  told.set(refuse, sessions)
  if (sessions.has(ctx.root.sessionId)) return
  if (sessions.size === maxTold) sessions.clear()
  sessions.add(ctx.root.sessionId)
  ctx.notifyUser(`Hooks of ${file} do not run: ${why}.`)
}
