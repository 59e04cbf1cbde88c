/**
 * Retries failed model calls after a delay, and decides what happens when retries do not help.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { OnLlmErrorEvent } from "@belay/core/HookPoint"
import * as HookState from "@belay/core/HookState"
import type { RetryDecision } from "@belay/core/LlmCall"
import { checkOptions, type Expectation, oneOf, whole, within } from "@belay/core/OptionCheck"
import {
  isFallbackable,
  isProviderError,
  isRetryable,
  type ProviderError,
  retryAfterMs
} from "@belay/core/ProviderError"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as HookDefaults from "../HookDefaults.ts"
import { withoutUndefined } from "../internal/withoutUndefined.ts"
import { type Backoff, backoffChecks, delayOf } from "./internal/backoff.ts"

export type { Backoff } from "./internal/backoff.ts"

/** The number of retries, and the delays before them. @category models @since 0.1.0 */
export interface Policy extends Backoff {
  /**
   * The most retries of one call with the same provider and model, after its first attempt. The runtime stops after
   * `limits.attempts` (6) attempts in all. Default 2.
   */
  readonly maxRetries?: number
}

/** The kind of an error. @category models @since 0.1.0 */
export type Tag = ProviderError["_tag"]

/** Options of `ModelRetry.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults, Policy {
  /** The errors that are retried: their kinds, or a function. Default `ProviderError.isRetryable`. */
  readonly retryOn?: ReadonlyArray<Tag> | ((error: ProviderError, failure: OnLlmErrorEvent) => boolean)
  /** Policies for single kinds of errors. These errors are always retried, or never with `false`. Default none. */
  readonly perError?: { readonly [K in Tag]?: Policy | false }
  /**
   * The longest delay in milliseconds that a vendor may ask for (`Retry-After`), at most 60,000. A shorter one replaces
   * the delay of the policy. If a vendor asks for a longer one, the call is not retried. Default 60,000.
   */
  readonly maxRetryAfterMs?: number
  /**
   * Whether a call is retried after a part of its text was streamed. `always`: it is, and the text is withdrawn.
   * `beforeFirstToken`: it is not, and the text stays. Default `always`.
   */
  readonly replay?: "always" | "beforeFirstToken"
  /**
   * What happens if no retry is left, or the error is not retried: the call fails (`fail`), the next registered
   * provider is tried if it may not have the same error (`fallback`), or the turn ends with a text (`{ respond }`).
   * Default `fallback`.
   */
  readonly whenExhausted?: "fail" | "fallback" | { readonly respond: string | ((error: ProviderError) => string) }
}

/** The retries of the current call. */
const tried = HookState.ownKey("tried", Schema.Struct({ target: Schema.String, retries: Schema.Finite }), {
  target: "",
  retries: 0
})

const optionKinds: HookDefaults.OwnKinds<Options> = {
  retryOn: "any",
  perError: "object",
  maxRetryAfterMs: "number",
  replay: "text",
  whenExhausted: "any",
  maxRetries: "number",
  backoff: "any",
  factor: "number",
  initialDelayMs: "number",
  jitter: "any",
  maxDelayMs: "number"
}

/**
 * Decides what happens after every failed attempt of a model call. Interruptions, and calls that hooks rejected or
 * aborted, are not failures of the model. The retries of each agent are counted on their own, in `ctx.local`. The hook
 * runs before `ProviderFallback`, whose `patience` decides which of these retries happen before a fallback. Throws a
 * `ConfigError` for an invalid option.
 *
 * @example
 * ```ts
 * import * as ModelRetry from "@belay/hooks/ModelRetry"
 *
 * const retry = ModelRetry.make({
 *   maxRetries: 3,
 *   perError: { RateLimited: { maxRetries: 5, initialDelayMs: 5_000 }, Malformed: false },
 *   whenExhausted: { respond: "The model cannot be reached. Please try again later." }
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): AgentHook => {
  HookDefaults.checkKinds("model-retry", options, optionKinds)
  const {
    maxRetryAfterMs = maxDelayMs,
    name = "model-retry",
    perError = {},
    replay = "always",
    retryOn,
    whenExhausted = "fallback"
  } = options
  Result.getOrThrow(checkOptions(
    name,
    ...policyChecks(options),
    ...Object.entries(perError).flatMap(([tag, own]) =>
      own === false || own === undefined ? [] : policyChecks(own, `perError.${tag}.`)
    ),
    within("maxRetryAfterMs", maxRetryAfterMs, 0, maxDelayMs),
    oneOf("replay", replay, ["always", "beforeFirstToken"]),
    ["whenExhausted", whenExhausted, isEnding, "fail, fallback or { respond }"]
  ))
  const isRetried = (failure: OnLlmErrorEvent): boolean => {
    const { error } = failure
    const own = perError[error._tag]
    if (own !== undefined) return own !== false
    if (retryOn === undefined) return isRetryable(error)
    return typeof retryOn === "function" ? retryOn(error, failure) : retryOn.includes(error._tag)
  }
  const decisionWithoutRetry = ({ error, provider, providers }: OnLlmErrorEvent): RetryDecision => {
    const next = whenExhausted === "fallback" && isFallbackable(error)
      ? providers[providers.indexOf(provider) + 1]
      : undefined
    return next === undefined ? { type: "fail" } : { type: "fallback", provider: next }
  }
  const respond = typeof whenExhausted === "object" ? whenExhausted.respond : undefined

  return HookDefaults.apply(
    options,
    withoutUndefined<AgentHook>({
      name,
      priority: 50,
      onLlmError: (failure, ctx) => {
        const { error, provider, request } = failure
        const target = JSON.stringify([ctx.turnNumber, ctx.stepNumber, provider, request.model ?? null])
        const last = ctx.local.get(tried(ctx.hook))
        const retries = last.target === target ? last.retries : 0
        const settings = { ...options, ...perError[error._tag] }
        const requestedMs = retryAfterMs(error)
        if (
          retries >= (settings.maxRetries ?? 2) || !isRetried(failure) ||
          (requestedMs !== undefined && !(requestedMs <= maxRetryAfterMs)) ||
          (replay === "beforeFirstToken" && (error.partial?.text ?? "") !== "")
        ) return HookAction.transform(decisionWithoutRetry(failure))
        ctx.local.set(tried(ctx.hook), { target, retries: retries + 1 })
        return Effect.map(
          requestedMs === undefined ? delayOf(settings, retries + 1) : Effect.succeed(Math.max(0, requestedMs)),
          (delayMs) => HookAction.transform({ type: "retry", delayMs } as const)
        )
      },
      onTurnError: respond === undefined
        ? undefined
        : ({ error }) => {
          if (!isProviderError(error)) return undefined
          return HookAction.replace({ text: typeof respond === "function" ? respond(error) : respond })
        }
    })
  )
}

/** The longest delay of the runtime. */
const maxDelayMs = 60_000

const policyChecks = (policy: Policy, prefix = ""): ReadonlyArray<Expectation> => [
  whole(`${prefix}maxRetries`, policy.maxRetries),
  ...backoffChecks(policy, prefix)
]

const isEnding = (ending: unknown): boolean =>
  ending === "fail" || ending === "fallback" ||
  (typeof ending === "object" && ending !== null && "respond" in ending &&
    ["string", "function"].includes(typeof ending.respond))
