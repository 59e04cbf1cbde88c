/**
 * Limits how often tools are called, per turn and per session.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import * as HookDefaults from "../HookDefaults.ts"
import * as CallCounter from "./internal/callCounter.ts"

/** Options of `ToolCallLimit.make`. At least one limit is required. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /**
   * The most calls of the `tools` (default: all tools) together in one turn: a number, or a function that returns it
   * for the turn. Default no limit.
   */
  readonly perTurn?: number | ((ctx: HookContext) => number)
  /** The most calls in the whole session: a number, or a function that returns it. Default no limit. */
  readonly perSession?: number | ((ctx: HookContext) => number)
  /**
   * What happens to a call above the limit: the model reads the reason and continues without the call (`reject`), or
   * the turn ends (`abort`). Default `reject`.
   */
  readonly onLimit?: "reject" | "abort"
}

const optionKinds: HookDefaults.OwnKinds<Options> = {
  perTurn: "any",
  perSession: "any",
  onLimit: "text"
}

/**
 * Stops tool calls above a limit. It counts before the call is made, so that parallel calls cannot exceed the limit,
 * and after other hooks, so that calls that they reject do not count. Calls that hooks make do not count. The calls of
 * an agent and its sub-agents count together: the counts are in `ctx.state`, and a turn is the turn of the agent that
 * the host started. Two limits in one agent need two names. Throws a `ConfigError` when no limit is given, or an
 * invalid one.
 *
 * @example
 * ```ts
 * import * as ToolCallLimit from "@belay/hooks/ToolCallLimit"
 *
 * const all = ToolCallLimit.make({ perTurn: 50 })
 * const mail = ToolCallLimit.make({ name: "mail-limit", tools: "send_*", perTurn: 1, perSession: 5, onLimit: "abort" })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  HookDefaults.checkKinds("tool-call-limit", options, optionKinds)
  const { name = "tool-call-limit", onLimit = "reject" } = options
  CallCounter.checkLimits(name, options)
  return HookDefaults.apply(options, {
    name,
    priority: 200,
    kind: "policy",
    preToolCall: ({ name: tool }, ctx) => {
      // The call was counted with its earlier arguments.
      if (ctx.askedAgain) return undefined
      const limit = CallCounter.exhaustedLimit(options, ctx)
      if (limit !== undefined) {
        return HookAction[onLimit](`tool call limit of ${limit} reached: ${tool} was not called. Continue without it.`)
      }
      CallCounter.add(ctx)
      return undefined
    }
  })
}
