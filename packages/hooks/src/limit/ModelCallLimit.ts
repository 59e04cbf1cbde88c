/**
 * Lets the model be asked so often and no more.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import * as HookDefaults from "../HookDefaults.ts"
import * as Counter from "./internal/counter.ts"

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** Calls in one turn: a number, or a function that says it for this turn. */
  readonly perTurn?: number | ((ctx: HookContext) => number)
  /** The same for the whole session. */
  readonly perSession?: number | ((ctx: HookContext) => number)
  /**
   * What happens to a call beyond: the turn fails (`reject`), or ends with the reason as its last word (`abort`).
   * Default `reject`.
   */
  readonly onLimit?: "reject" | "abort"
}

/**
 * Counts every attempt that is made, whether it succeeds, fails or is cut off: a retry is another call, as a vendor
 * counts it.
 * What a hook or a cache answered is none. Throws a `ConfigError` when there is no limit or one that makes no sense.
 *
 * @example
 * ```ts
 * import * as ModelCallLimit from "@belay/hooks/ModelCallLimit"
 *
 * const limit = ModelCallLimit.make({ perTurn: (ctx) => ctx.agent.depth === 0 ? 30 : 10, perSession: 200, onLimit: "abort" })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  const { name = "model-call-limit", onLimit = "reject" } = options
  const calls = Counter.make(name, options)
  const refused = (ctx: HookContext): HookAction.Reject | HookAction.Abort | undefined => {
    const limit = Counter.reached(options, calls, ctx)
    return limit === undefined ? undefined : HookAction[onLimit](`model call limit of ${limit} reached`)
  }
  return HookDefaults.apply(options, {
    name,
    // The innermost wrapper, and the last word about a retry.
    priority: 900,
    kind: "policy",
    reinvoke: "ifChanged",
    preLlmCall: (_request, ctx) => refused(ctx),
    onLlmError: ({ decision }, ctx) => decision.type === "fail" ? undefined : refused(ctx),
    wrapLlmCall: (request, next, ctx) => {
      Counter.add(calls, ctx)
      return next(request)
    }
  })
}
