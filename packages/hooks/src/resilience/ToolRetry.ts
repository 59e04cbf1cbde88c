/**
 * Retries failed tool calls after a delay, if a retry is safe.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import { matcher } from "@belay/core/NamePattern"
import { checkOptions, whole } from "@belay/core/OptionCheck"
import type { PreToolCallEvent, ToolMeta, ToolResult } from "@belay/core/Tool"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Pattern from "../guardrail/Pattern.ts"
import * as HookDefaults from "../HookDefaults.ts"
import { type Backoff, backoffChecks, delayOf } from "./internal/backoff.ts"

export type { Backoff } from "./internal/backoff.ts"

/** Options of `ToolRetry.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults, Backoff {
  /** The most retries of one call, after its first execution. Default 2. */
  readonly maxRetries?: number
  /** Whether only tools that declare `idempotent` or `readOnly` are retried. Default true. */
  readonly idempotentOnly?: boolean
  /**
   * The failures that are retried: patterns that match a part of the error, or a function. Default: every failure.
   */
  readonly retryOn?: ReadonlyArray<Pattern.Pattern> | ((error: string, call: PreToolCallEvent) => boolean)
}

const optionKinds: HookDefaults.OwnKinds<Options> = {
  maxRetries: "number",
  idempotentOnly: "flag",
  retryOn: ["list", "function"],
  backoff: "any",
  factor: "number",
  initialDelayMs: "number",
  jitter: "any",
  maxDelayMs: "number"
}

/**
 * Retries the execution of a tool; the model reads only the last result. A call that was denied, or whose arguments are
 * invalid, was not executed and is not retried. Throws a `ConfigError` for an invalid option.
 *
 * @example
 * ```ts
 * import * as ToolRetry from "@belay/hooks/ToolRetry"
 *
 * const reading = ToolRetry.make()
 * const search = ToolRetry.make({
 *   name: "search-retry",
 *   tools: "search_*",
 *   idempotentOnly: false,
 *   retryOn: ["(?i)timed? ?out", "\\b50[234]\\b"]
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): AgentHook => {
  HookDefaults.checkKinds("tool-retry", options, optionKinds)
  const { idempotentOnly = true, maxRetries = 2, name = "tool-retry", retryOn, tools } = options
  Result.getOrThrow(checkOptions(name, whole("maxRetries", maxRetries), ...backoffChecks(options)))
  const patterns = typeof retryOn === "object"
    ? Result.getOrThrow(Pattern.compile(retryOn, `${name}.retryOn`))
    : undefined
  const isIncluded = tools === undefined ? () => true : matcher(tools)
  const isRetried = (error: string, call: PreToolCallEvent): boolean =>
    typeof retryOn === "function" ? retryOn(error, call) : patterns === undefined || patterns.test(error)
  return HookDefaults.apply(options, {
    name,
    // Places the hook outside of timeouts, so that these limit every execution.
    priority: 100,
    wrapToolCall: (call, next, ctx) => {
      if (!isIncluded(call.name) || (idempotentOnly && !isSafe(call.tool))) return next(call)
      const attempt = (retry: number): Effect.Effect<ToolResult, unknown> =>
        Effect.flatMap(next(call), (result): Effect.Effect<ToolResult, unknown> => {
          if (result.ok || retry > maxRetries || ctx.signal.aborted || !isRetried(result.error, call)) {
            return Effect.succeed(result)
          }
          return Effect.flatMap(delayOf(options, retry), (delayMs) => {
            ctx.events.emit("tool-retry", { tool: call.name, callId: call.id, retry, delayMs })
            return Effect.andThen(Effect.sleep(delayMs), attempt(retry + 1))
          })
        })
      return attempt(1)
    }
  })
}

const isSafe = ({ idempotent, readOnly }: ToolMeta): boolean => idempotent === true || readOnly === true
