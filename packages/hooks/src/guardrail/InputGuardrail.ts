/**
 * Refuses messages before the model sees them.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import * as Pattern from "./Pattern.ts"

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** A message in which any of these is found is refused. */
  readonly patterns: ReadonlyArray<Pattern.Pattern>
  /** Why, for the error and the log. Default `Message blocked by content policy`. */
  readonly reason?: string
  /** What the user reads instead of the reason. */
  readonly userMessage?: string
}

/**
 * Rejects a turn whose message matches; the model is not called. A pattern that breaks refuses the message too.
 * It has the last look: when a later hook changes the message, it is checked again. Throws a `ConfigError` for a bad
 * pattern.
 *
 * @example
 * ```ts
 * import * as InputGuardrail from "@belay/hooks/InputGuardrail"
 *
 * const guardrail = InputGuardrail.make({
 *   patterns: ["(?i)ignore (all|any) previous instructions", /\b\d{3}-\d{2}-\d{4}\b/],
 *   userMessage: "I cannot help with that."
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  const patterns = Result.getOrThrow(Pattern.compile(options.patterns, "input-guardrail.patterns"))
  const blocked = HookAction.reject(
    options.reason ?? "Message blocked by content policy",
    options.userMessage === undefined ? undefined : { userMessage: options.userMessage }
  )
  return HookDefaults.apply(options, {
    name: "input-guardrail",
    priority: 10,
    kind: "policy",
    reinvoke: "ifChanged",
    preTurn: (input) => patterns.test(input.message) ? blocked : undefined
  })
}
