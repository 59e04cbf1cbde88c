/**
 * Adds up the exact cost of the model calls of a session, and can stop them at a limit.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { checked } from "@belay/core/ArgumentCheck"
import * as HookAction from "@belay/core/HookAction"
import type { HookContext } from "@belay/core/HookContext"
import * as HookState from "@belay/core/HookState"
import { checkOptions, oneOf, within } from "@belay/core/OptionCheck"
import type { Usage } from "@belay/core/Usage"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as HookDefaults from "../HookDefaults.ts"
import { formatDollars, toDollars, toPico } from "./internal/money.ts"
import { compilePrices, costOf, type Price, priceTable } from "./internal/prices.ts"

export type { Price } from "./internal/prices.ts"

/**
 * Options of `CostTracker.make`. The prices of `Price` beside `prices` hold for all models that are not in the table.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends HookDefaults.HookDefaults, Partial<Price> {
  /** Prices by the name of the model, as the vendor reports it or as it was requested. Default none. */
  readonly prices?: { readonly [model: string]: Price }
  /**
   * The most that a session may cost, in US dollars. A call that begins below the limit may end above it. Default no
   * limit.
   */
  readonly limit?: number
  /** The share of the limit at which to warn once. Default 0.8. */
  readonly warnAt?: number
  /**
   * What happens to a call at the limit: the turn fails (`reject`), or ends with the reason as its last message
   * (`abort`). Default `reject`.
   */
  readonly onLimit?: "reject" | "abort"
  /**
   * With a limit, what happens after a call whose cost is not known: further calls are made (`count`), or are stopped
   * as at the limit (`stop`). Default `count`.
   */
  readonly onUnknown?: "count" | "stop"
}

/**
 * The cost of this session in US dollars: the number nearest to the exact sum. It is for display: the limit does not
 * depend on it.
 *
 * @category state
 * @since 0.1.0
 */
export const totalCost: HookState.StateKey<number> = HookState.key("total_cost", Schema.Finite, 0)

/**
 * The exact sum of this conversation in pico-dollars (10^-12 dollars), in decimal digits.
 *
 * @category state
 * @since 0.1.0
 */
export const exactCost: HookState.HookKey<string> = HookState.ownKey(
  "pico-dollars",
  Schema.String.check(Schema.isPattern(/^\d+$/)),
  "0"
)

/**
 * The number of calls of this session whose cost is not known. The total does not contain them.
 *
 * @category state
 * @since 0.1.0
 */
export const unknownCalls: HookState.HookKey<number> = HookState.ownKey("unknown-calls", 0)

const hasWarned = HookState.ownKey("has-warned", false)

/** The cost of a session. @category models @since 0.1.0 */
export interface Total {
  /** US dollars: the number nearest to the exact sum. */
  readonly usd: number
  /** The exact sum, such as `$4.20`. */
  readonly text: string
  /** The number of calls that the sum does not contain, because their usage or price is not known. */
  readonly unknownCalls: number
}

/** Reads the cost of a session from its state. `name` is the name of the hook. @category reading @since 0.1.0 */
export const total = checked(
  "CostTracker.total",
  ["state", "name"],
  (state: Pick<HookState.HookState, "get">, name = "cost-tracker"): Total => {
    const cost = BigInt(state.get(exactCost(name)))
    return { usd: toDollars(cost), text: formatDollars(cost), unknownCalls: state.get(unknownCalls(name)) }
  }
)

const optionKinds: HookDefaults.OwnKinds<Options> = {
  prices: priceTable,
  limit: "number",
  warnAt: "number",
  onLimit: "text",
  onUnknown: "text",
  costPerInputToken: "number",
  costPerOutputToken: "number",
  costPerCachedToken: "number",
  costPerCacheWriteToken: "number"
}

/**
 * Adds the cost of every model call of the conversation to `total_cost` in `ctx.state`, with the calls of sub-agents
 * and of hooks. The limit holds for all of them together. The cost that a vendor reports (`usage.costUsd`) takes
 * precedence over prices. A call without usage or price counts as unknown, never as free. A call that a hook answers
 * costs nothing; a call that breaks off costs what it has used so far. Throws a `ConfigError` for an invalid price.
 *
 * Without a limit the hook is an observer. With a limit it decides before each call, and again when a later hook
 * changes the call.
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
export const make = (options: Options = {}): AgentHook => {
  HookDefaults.checkKinds("cost-tracker", options, optionKinds)
  const { name = "cost-tracker", onLimit = "reject", warnAt = 0.8 } = options
  Result.getOrThrow(checkOptions(
    name,
    within("limit", options.limit, 0),
    within("warnAt", warnAt, 0),
    oneOf("onLimit", onLimit, ["reject", "abort"]),
    oneOf("onUnknown", options.onUnknown, ["count", "stop"])
  ))
  const { priceOf } = Result.getOrThrow(compilePrices(options, name))
  const limit = options.limit === undefined ? undefined : toPico(options.limit)
  const warnPico = options.limit === undefined ? 0n : toPico(options.limit * warnAt)
  const count = (usage: Usage | undefined, models: ReadonlyArray<string | undefined>, ctx: HookContext): void => {
    const { hook, state } = ctx
    const cost = costOf(usage, priceOf(models))
    if (typeof cost === "string") {
      const calls = state.update(unknownCalls(hook), (n) => n + 1)
      if (calls === 1) {
        const model = models.find(Boolean) ?? "a model"
        ctx.warn(`the cost of a call to ${model} is not known and not in the total: ${cost}`)
      }
      return
    }
    const sum = BigInt(state.update(exactCost(hook), (before) => String(BigInt(before) + cost)))
    // A second tracker, brought by a sub-agent, is named `name@agent`. The first one counts the call too.
    if (hook === name) state.set(totalCost, toDollars(sum))
    if (limit === undefined || sum < warnPico || state.get(hasWarned(hook))) return
    state.set(hasWarned(hook), true)
    ctx.warn(`${formatDollars(sum)} of the cost limit of ${formatDollars(limit)} spent`)
  }
  const tracker: AgentHook = {
    name,
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
      const { hook, state } = ctx
      const sum = BigInt(state.get(exactCost(hook)))
      const unknown = state.get(unknownCalls(hook))
      const limitText = formatDollars(limit)
      if (options.onUnknown === "stop" && unknown > 0) {
        const calls = `${unknown} call${unknown === 1 ? "" : "s"}`
        return HookAction[onLimit](`the cost of ${calls} is not known, so the limit of ${limitText} cannot be kept`)
      }
      if (sum < limit) return undefined
      return HookAction[onLimit](`cost limit of ${limitText} reached: ${formatDollars(sum)} spent`)
    }
  })
}
