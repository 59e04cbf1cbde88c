/**
 * The state in which a hook counts for everybody: an agent's own hook, at work in another's tree beside one of its
 * name, counts for that agent alone.
 */
import type { HookContext } from "@belay/core/HookContext"

export const whole = (ctx: HookContext): Pick<HookContext["root"]["state"], "get" | "set" | "update"> =>
  ctx.agent.depth > 0 && ctx.hook.endsWith(`@${ctx.agent.name}`) ? ctx.state : ctx.root.state
