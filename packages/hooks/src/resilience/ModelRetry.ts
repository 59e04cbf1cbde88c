/**
 * Asks a model again that failed, after a pause, and says what happens when that does not help.
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
import { type Backoff, delayOf, expectations } from "./internal/backoff.ts"

export type { Backoff } from "./internal/backoff.ts"

/** How often, and after which pauses. @category models @since 0.1.0 */
export interface Policy extends Backoff {
  /**
   * Retries of one call at one provider and model, after its first attempt. Default 2. Core stops after
   * `limits.attempts` (6) in all.
   */
  readonly maxRetries?: number
}

/** The kind of an error. @category models @since 0.1.0 */
export type Tag = ProviderError["_tag"]

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults, Policy {
  /** Which errors are worth another try: their kinds, or a function. Default: `ProviderError.isRetryable`. */
  readonly retryOn?: ReadonlyArray<Tag> | ((error: ProviderError, failure: OnLlmErrorEvent) => boolean)
  /** Policies for kinds of errors, where they differ: such an error is retried, or with `false` never. */
  readonly perError?: { readonly [K in Tag]?: Policy | false }
  /**
   * The vendor's own wish (`Retry-After`) goes before the pauses here. One that is longer than this is not waited for.
   * Default and most: 60,000.
   */
  readonly maxRetryAfterMs?: number
  /**
   * `beforeFirstToken` leaves a call alone of which text has arrived: what was shown stays. Default `always`: it is
   * taken back.
   */
  readonly replay?: "always" | "beforeFirstToken"
  /**
   * When no retry is left or none is worth it: the call fails (`fail`), the next registered provider is asked where it
   * may help (`fallback`), or
   * the turn is answered with a text. Default `fallback`.
   */
  readonly whenExhausted?: "fail" | "fallback" | { readonly respond: string | ((error: ProviderError) => string) }
}

/**
 * Decides about every failed attempt of a model call. Pauses grow as they are told, with chance from Effect's `Random`.
 * Interruptions and what hooks
 * rejected or aborted are no failures of a model and never come here. It comes before `ProviderFallback`, whose
 * `patience` then says
 * which retries may go first. Throws a `ConfigError` for an option that makes no sense.
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
  const {
    maxRetryAfterMs = longestPauseMs,
    name = "model-retry",
    perError = {},
    replay = "always",
    retryOn,
    whenExhausted = "fallback"
  } = options
  Result.getOrThrow(checkOptions(
    name,
    ...policy(options),
    ...Object.entries(perError).flatMap(([tag, own]) =>
      own === false || own === undefined ? [] : policy(own, `perError.${tag}.`)
    ),
    within("maxRetryAfterMs", maxRetryAfterMs, 0, longestPauseMs),
    oneOf("replay", replay, ["always", "beforeFirstToken"]),
    ["whenExhausted", whenExhausted, isEnding, "fail, fallback or { respond }"]
  ))
  const state = HookState.key(`${name}/tried`, Schema.Struct({ target: Schema.String, retries: Schema.Finite }), {
    target: "",
    retries: 0
  })
  const isWorthIt = (failure: OnLlmErrorEvent): boolean => {
    const { error } = failure
    const own = perError[error._tag]
    if (own !== undefined) return own !== false
    return typeof retryOn === "function"
      ? retryOn(error, failure)
      : retryOn === undefined
      ? isRetryable(error)
      : retryOn.includes(error._tag)
  }
  const exhausted = ({ error, provider, providers }: OnLlmErrorEvent): RetryDecision => {
    const next = whenExhausted === "fallback" && isFallbackable(error)
      ? providers[providers.indexOf(provider) + 1]
      : undefined
    return next === undefined ? { type: "fail" } : { type: "fallback", provider: next }
  }
  const respond = typeof whenExhausted === "object" ? whenExhausted.respond : undefined

  return HookDefaults.apply(options, {
    name,
    priority: 50,
    onLlmError: (failure, ctx) => {
      const { error, provider, request } = failure
      const target = JSON.stringify([ctx.turnNumber, ctx.stepNumber, provider, request.model ?? null])
      const tried = ctx.state.get(state)
      const retries = tried.target === target ? tried.retries : 0
      const settings = { ...options, ...perError[error._tag] }
      const wish = retryAfterMs(error)
      if (
        retries >= (settings.maxRetries ?? 2) || !isWorthIt(failure) ||
        (wish !== undefined && !(wish <= maxRetryAfterMs)) ||
        (replay === "beforeFirstToken" && (error.partial?.text ?? "") !== "")
      ) return HookAction.transform(exhausted(failure))
      ctx.state.set(state, { target, retries: retries + 1 })
      return Effect.map(
        wish === undefined ? delayOf(settings, retries + 1) : Effect.succeed(Math.max(0, wish)),
        (delayMs) => HookAction.transform({ type: "retry", delayMs } as const)
      )
    },
    ...(respond === undefined ? {} : {
      onTurnError: ({ error }) =>
        isProviderError(error)
          ? HookAction.replace({ text: typeof respond === "function" ? respond(error) : respond })
          : undefined
    })
  })
}

/** Core waits no longer than this. */
const longestPauseMs = 60_000

const policy = (given: Policy, prefix = ""): ReadonlyArray<Expectation> => [
  whole(`${prefix}maxRetries`, given.maxRetries),
  ...expectations(given, prefix)
]

const isEnding = (ending: unknown): boolean =>
  ending === "fail" || ending === "fallback" ||
  (typeof ending === "object" && ending !== null && "respond" in ending &&
    ["string", "function"].includes(typeof ending.respond))
