/**
 * Limits how often the model is called, per turn and per session.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import * as Effect from "effect/Effect"
import * as HookDefaults from "../HookDefaults.ts"
import * as CallCounter from "./internal/callCounter.ts"

/** Options of `ModelCallLimit.make`. At least one limit is required. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /**
   * The most calls in one turn of the agent that the host started, with its sub-agents: a number, or a function that
   * returns it for the turn. Default no limit.
   */
  readonly perTurn?: number | ((ctx: HookContext) => number)
  /** The most calls in the whole session: a number, or a function that returns it. Default no limit. */
  readonly perSession?: number | ((ctx: HookContext) => number)
  /**
   * What happens to a call above the limit: the turn fails (`reject`), or ends with the reason as its last message
   * (`abort`). Default `reject`.
   */
  readonly onLimit?: "reject" | "abort"
}

const optionKinds: HookDefaults.OwnKinds<Options> = {
  perTurn: "any",
  perSession: "any",
  onLimit: "text"
}

/**
 * Stops model calls above a limit. Every attempt counts, whether it succeeds, fails or is interrupted, so a retry is
 * another call. A call that a hook or a cache answers does not count, and neither do calls that hooks make. The calls
 * of an agent and its sub-agents count together: the counts are in `ctx.state`, and a turn is the turn of the agent
 * that the host started. Throws a `ConfigError` when no limit is given, or an invalid one.
 *
 * @example
 * ```ts
 * import * as ModelCallLimit from "@belay/hooks/ModelCallLimit"
 *
 * const limit = ModelCallLimit.make({
 *   // Sub-agents stop earlier, so that the lead agent can still finish.
 *   perTurn: (ctx) => ctx.agent.depth === 0 ? 30 : 25,
 *   perSession: 200,
 *   onLimit: "abort"
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  HookDefaults.checkKinds("model-call-limit", options, optionKinds)
  const { name = "model-call-limit", onLimit = "reject" } = options
  CallCounter.checkLimits(name, options)
  const rejection = (ctx: HookContext): HookAction.Reject | HookAction.Abort | undefined => {
    const limit = CallCounter.exhaustedLimit(options, ctx)
    return limit === undefined ? undefined : HookAction[onLimit](`model call limit of ${limit} reached`)
  }
  return HookDefaults.apply(options, {
    name,
    // Makes the hook the innermost wrapper, and the last one to decide about a retry.
    priority: 900,
    kind: "policy",
    reinvoke: "ifChanged",
    preLlmCall: (_request, ctx) => rejection(ctx),
    onLlmError: ({ decision }, ctx) => decision.type === "fail" ? undefined : rejection(ctx),
    wrapLlmCall: (request, next, ctx) => {
      // A parallel agent may have made the last call since `preLlmCall`.
      const refused = rejection(ctx)
      if (refused !== undefined) return Effect.fail(refused)
      CallCounter.add(ctx)
      return next(request)
    }
  })
}
