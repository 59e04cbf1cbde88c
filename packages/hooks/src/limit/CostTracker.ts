/**
 * Adds up what the model calls of a session cost, exactly, and may stop them at a limit.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import type { Usage } from "@belay/core/Usage"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as HookDefaults from "../HookDefaults.ts"
import { dollars, show } from "./internal/money.ts"
import { check, costOf, type Price } from "./internal/prices.ts"
import { whole } from "./internal/whole.ts"

export type { Price } from "./internal/prices.ts"

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults, Partial<Price> {
  /**
   * Prices by model, as the vendor names it or as it was asked for. Other models cost what stands beside this table.
   */
  readonly prices?: { readonly [model: string]: Price }
  /** US dollars a session may cost. A call that begins below the limit may end above it. */
  readonly limit?: number
  /** The share of the limit at which to warn, once. Default 0.8. */
  readonly warnAt?: number
  /**
   * What happens to a call at the limit: the turn fails (`reject`), or ends with the reason as its last word (`abort`).
   * Default `reject`.
   */
  readonly onLimit?: "reject" | "abort"
  /**
   * With a limit: whether calls go on after one whose cost is not known (`count`), or are stopped as at the limit
   * (`stop`). Default `count`.
   */
  readonly onUnknown?: "count" | "stop"
}

/** US dollars spent in this session: the number nearest to the exact sum. @category state @since 0.1.0 */
export const totalCost: HookState.StateKey<number> = HookState.key("total_cost", Schema.Finite, 0)

/** Pico-dollars spent in this session, in decimal digits: the exact sum. @category state @since 0.1.0 */
export const exactCost: HookState.StateKey<string> = HookState.key(
  "cost-tracker/pico",
  Schema.String.check(Schema.isPattern(/^\d+$/)),
  "0"
)

/** Calls of this session whose cost is not known. They are not in the total. @category state @since 0.1.0 */
export const unknownCalls: HookState.StateKey<number> = HookState.key("cost-tracker/unknown", Schema.Finite, 0)

const warned = HookState.key("cost-tracker/warned", false)

/** What a session has cost. @category models @since 0.1.0 */
export interface Total {
  readonly usd: number
  /** The exact sum, such as `$4.20`. */
  readonly text: string
  /** Calls that are not in the sum, because their usage or their price is not known. */
  readonly unknownCalls: number
}

/** Reads from a session's state what it has cost. @category reading @since 0.1.0 */
export const total = (state: Pick<HookState.HookState, "get">): Total => ({
  usd: state.get(totalCost),
  text: show(BigInt(state.get(exactCost))),
  unknownCalls: state.get(unknownCalls)
})

/**
 * Adds the cost of every model call to `total_cost`, those of sub-agents and of hooks among them. The vendor's own
 * figure (`usage.costUsd`) goes before prices; a call without usage
 * or price counts as unknown, never as free. A call that a hook answered costs nothing; of one that broke off, what had
 * come counts.
 * Throws a `ConfigError` for a bad price.
 *
 * It counts as an observer, whatever other hooks decide. With a limit it also decides, before each call, and again when
 * a later hook changed the call.
 *
 * @example
 * ```ts
 * import * as CostTracker from "@belay/hooks/CostTracker"
 *
 * const tracker = CostTracker.make({
 *   prices: {
 *     "small-1": { costPerInputToken: 1.5e-7, costPerOutputToken: 6e-7, costPerCachedToken: 7.5e-8 },
 *     "large-1": { costPerInputToken: 2.5e-6, costPerOutputToken: 1e-5 }
 *   },
 *   limit: 5
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  const { limit, priceOf, warnAt } = Result.getOrThrow(check(options))
  const { onLimit = "reject" } = options
  const count = (usage: Usage | undefined, models: ReadonlyArray<string | undefined>, ctx: HookContext): void => {
    const spent = costOf(usage, priceOf(models))
    if (typeof spent === "string") {
      const calls = whole(ctx).update(unknownCalls, (n) => n + 1)
      if (calls === 1) {
        ctx.warn(
          `the cost of a call to ${models.find(Boolean) ?? "a model"} is not known and not in the total: ${spent}`
        )
      }
      return
    }
    const sum = BigInt(whole(ctx).update(exactCost, (before) => String(BigInt(before) + spent)))
    whole(ctx).set(totalCost, dollars(sum))
    if (limit === undefined || sum < warnAt || whole(ctx).get(warned)) return
    whole(ctx).set(warned, true)
    ctx.warn(`${show(sum)} of the cost limit of ${show(limit)} spent`)
  }
  const tracker: AgentHook = {
    name: "cost-tracker",
    priority: 100,
    kind: "observer",
    allowReentry: true,
    postLlmCall: ({ executed, request, response }, ctx) =>
      executed ? count(response.usage, [response.model, request.model], ctx) : undefined,
    onLlmError: ({ error, request }, ctx) =>
      error.partial === undefined
        ? undefined
        : count(error.partial.usage, [error.partial.model, error.model, request.model], ctx)
  }
  if (limit === undefined) return HookDefaults.apply(options, tracker)
  return HookDefaults.apply(options, {
    ...tracker,
    kind: "policy",
    observes: ["postLlmCall", "onLlmError"],
    reinvoke: "ifChanged",
    preLlmCall: (_request, ctx) => {
      const sum = BigInt(whole(ctx).get(exactCost))
      const unknown = whole(ctx).get(unknownCalls)
      if (options.onUnknown === "stop" && unknown > 0) {
        return HookAction[onLimit](
          `the cost of ${unknown} call${unknown === 1 ? "" : "s"} is not known, so the limit of ${
            show(limit)
          } cannot be kept`
        )
      }
      return sum < limit ? undefined : HookAction[onLimit](`cost limit of ${show(limit)} reached: ${show(sum)} spent`)
    }
  })
}
