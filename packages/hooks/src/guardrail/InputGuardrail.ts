/**
 * Rejects messages before the model sees them.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import * as Pattern from "./Pattern.ts"

/** Options of `InputGuardrail.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** A message is rejected when one of these patterns matches a part of it. */
  readonly patterns: ReadonlyArray<Pattern.Pattern>
  /** The reason in the error and the log. Default `Message blocked by content policy`. */
  readonly reason?: string
  /** The text that the user reads instead of the reason. Default: the reason. */
  readonly userMessage?: string
}

const optionKinds: HookDefaults.OwnKinds<Options> = {
  patterns: "list",
  reason: "text",
  userMessage: "text"
}

/**
 * Rejects a turn whose message matches a pattern. The model is not called. A pattern that throws rejects the message
 * too. When a later hook changes the message, it is checked again. Throws a `ConfigError` for an invalid pattern.
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
  HookDefaults.checkKinds("input-guardrail", options, optionKinds, ["patterns"])
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
