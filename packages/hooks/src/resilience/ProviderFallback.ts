/**
 * Goes on with another provider or model when a call fails.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { OnLlmErrorEvent } from "@belay/core/HookPoint"
import * as HookState from "@belay/core/HookState"
import { isFallbackable, type ProviderError } from "@belay/core/ProviderError"
import * as Duration from "effect/Duration"
import * as HookDefaults from "../HookDefaults.ts"

/** A provider by its name, a model, or both. @category models @since 0.1.0 */
export type Target = string | { readonly provider?: string; readonly model?: string }

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /**
   * Where to go on, in this order; a provider that is not registered is passed over. Default: the registered providers
   * after the one that failed.
   */
  readonly to?: ReadonlyArray<Target>
  /**
   * Which errors to fall back on. Default: those that another provider may not have (`ProviderError.isFallbackable`).
   */
  readonly on?: (error: ProviderError) => boolean
  /** Lets a retry that is planned to come sooner than this go first. Default 0: falls back at once. */
  readonly patience?: Duration.Input
}

/** Targets of `to` that were tried for the current call. @category state @since 0.1.0 */
export const tried: HookState.StateKey<number> = HookState.key("provider-fallback/tried", 0)

/**
 * Answers a failed call with the next target. The list is gone through once a call; after it, what was planned happens.
 *
 * @example
 * ```ts
 * import * as ProviderFallback from "@belay/hooks/ProviderFallback"
 *
 * const next = ProviderFallback.make({})
 * const chosen = ProviderFallback.make({
 *   to: [{ model: "small-1" }, "backup", { provider: "local", model: "tiny-1" }],
 *   patience: "2 seconds"
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): AgentHook => {
  const { on = isFallbackable, to } = options
  const patience = Duration.toMillis(options.patience ?? 0)
  const targets = to?.map((target) => typeof target === "string" ? { provider: target } : target)
  return HookDefaults.apply(options, {
    name: "provider-fallback",
    onLlmError: (failure, ctx) => {
      const { attempt, decision, error, provider, providers } = failure
      if (attempt === 1) ctx.state.set(tried, 0)
      if (!on(error) || (decision.type === "retry" && decision.delayMs < patience)) return undefined
      if (targets === undefined) {
        const next = providers[providers.indexOf(provider) + 1]
        return next === undefined ? undefined : HookAction.transform({ type: "fallback", provider: next })
      }
      const at = targets.findIndex((target, index) => index >= ctx.state.get(tried) && isElsewhere(target, failure))
      ctx.state.set(tried, at < 0 ? targets.length : at + 1)
      const next = targets[at]
      return next === undefined ? undefined : HookAction.transform({ type: "fallback", ...next })
    }
  })
}

/** Whether the target exists and is not what has just failed. */
const isElsewhere = (target: Exclude<Target, string>, { provider, providers, request }: OnLlmErrorEvent): boolean =>
  target.provider !== undefined && target.provider !== provider
    ? providers.includes(target.provider)
    : target.model !== undefined && target.model !== request.model
