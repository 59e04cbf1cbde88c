/**
 * Lets tools be called so often and no more.
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
  /**
   * Calls of these `tools` (default: all), together, in one turn: a number, or a function that says it for this turn.
   */
  readonly perTurn?: number | ((ctx: HookContext) => number)
  /** The same for the whole session. */
  readonly perSession?: number | ((ctx: HookContext) => number)
  /**
   * What happens to a call beyond: the model reads the reason and goes on without it (`reject`), or the turn ends
   * (`abort`). Default `reject`.
   */
  readonly onLimit?: "reject" | "abort"
}

/**
 * Counts calls as they pass, so that parallel ones never exceed the limit. It comes late: calls that other hooks refuse
 * do not count.
 * Two limits in one agent need two names. Throws a `ConfigError` when there is no limit or one that makes no sense.
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
  const { name = "tool-call-limit", onLimit = "reject" } = options
  const calls = Counter.make(name, options)
  return HookDefaults.apply(options, {
    name,
    priority: 200,
    kind: "policy",
    preToolCall: ({ name: tool }, ctx) => {
      const limit = Counter.reached(options, calls, ctx)
      if (limit !== undefined) {
        return HookAction[onLimit](`tool call limit of ${limit} reached: ${tool} was not called. Go on without it.`)
      }
      Counter.add(calls, ctx)
      return undefined
    }
  })
}
