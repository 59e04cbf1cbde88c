/**
 * Tries another provider or model when a call fails.
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

/** Options of `ProviderFallback.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /**
   * The targets, in order. Providers that are not registered are skipped. Default: the registered providers after the
   * one that failed.
   */
  readonly to?: ReadonlyArray<Target>
  /** The errors after which a target is tried. Default `ProviderError.isFallbackable`. */
  readonly on?: (error: ProviderError) => boolean
  /**
   * A planned retry with a shorter delay, in milliseconds, happens before the fallback. Default 0: the fallback always
   * comes first.
   */
  readonly patience?: Duration.Input
}

/**
 * The number of targets that were tried for the current call of an agent, in `ctx.local`.
 *
 * @category state
 * @since 0.1.0
 */
export const tried: HookState.HookKey<number> = HookState.ownKey("tried", 0)

const optionKinds: HookDefaults.OwnKinds<Options> = {
  to: "list",
  on: "function",
  patience: "duration"
}

/**
 * Tries the next target after a failed call. Each target is tried once for a call. After the last one, the decision of
 * the other hooks applies.
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
  HookDefaults.checkKinds("provider-fallback", options, optionKinds)
  const { on = isFallbackable, to } = options
  const patience = Duration.toMillis(options.patience ?? 0)
  const targets = to?.map((target) => typeof target === "string" ? { provider: target } : target)
  return HookDefaults.apply(options, {
    name: "provider-fallback",
    onLlmError: (failure, ctx) => {
      const { attempt, decision, error, provider, providers } = failure
      if (attempt === 1) ctx.local.set(tried(ctx.hook), 0)
      if (!on(error) || (decision.type === "retry" && decision.delayMs < patience)) return undefined
      if (targets === undefined) {
        const next = providers[providers.indexOf(provider) + 1]
        return next === undefined ? undefined : HookAction.transform({ type: "fallback", provider: next })
      }
      const at = targets.findIndex((target, index) =>
        index >= ctx.local.get(tried(ctx.hook)) && isOtherTarget(target, failure)
      )
      ctx.local.set(tried(ctx.hook), at < 0 ? targets.length : at + 1)
      const next = targets[at]
      return next === undefined ? undefined : HookAction.transform({ type: "fallback", ...next })
    }
  })
}

/** Whether the target exists and differs from the one that failed. */
const isOtherTarget = (target: Exclude<Target, string>, { provider, providers, request }: OnLlmErrorEvent): boolean =>
  target.provider !== undefined && target.provider !== provider
    ? providers.includes(target.provider)
    : target.model !== undefined && target.model !== request.model
