/** The state in which a hook counts for an agent and its sub-agents together. */
import type { HookContext } from "@belay/core/HookContext"

/**
 * Returns the state of the root session. A sub-agent may have its own hook of the same name, which the runtime names
 * `hook@agent`: it counts for that sub-agent only, in the state of its session.
 */
export const sharedState = (ctx: HookContext): Pick<HookContext["root"]["state"], "get" | "set" | "update"> =>
  ctx.agent.depth > 0 && ctx.hook.endsWith(`@${ctx.agent.name}`) ? ctx.state : ctx.root.state
