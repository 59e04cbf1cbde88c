/**
 * Refuses or redacts what the model wrote, before a tool runs or anybody reads it.
 *
 * @since 0.1.0
 */
import { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { LlmDelta } from "@belay/core/LlmCall"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import { redacted, texts } from "./internal/response.ts"
import * as Pattern from "./Pattern.ts"

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** A response in which any of these is found is refused. Text, reasoning and refusals are searched. */
  readonly patterns: ReadonlyArray<Pattern.Pattern>
  /** Searches the strings in the arguments of tool calls too. */
  readonly toolCalls?: boolean
  /** Replaces what was found by this text instead of refusing the response. */
  readonly redact?: string
  /** Why, for the error and the log. Default `Response blocked by content policy`. */
  readonly reason?: string
  /** What the user reads instead of the reason. */
  readonly userMessage?: string
  /** Asks the model again with this advice instead of failing the turn, at most `retries` times (default 1). */
  readonly feedback?: string
  readonly retries?: number
  /**
   * How much of a streaming answer is kept back. `untilPass` (the default): all of it, until it has passed whole. `{
   * chars }`: so many
   * characters, in which `^` and `$` are the ends of the window; what is longer than the window may be shown in part.
   * `none`: nothing,
   * a bad answer is taken back when it is complete. With `feedback` a window becomes `untilPass`. Unless `none`,
   * reasoning is not streamed.
   */
  readonly hold?: "none" | "untilPass" | { readonly chars: number }
}

/**
 * Rejects a response that matches: it is discarded and none of its tools run. A pattern that breaks refuses the
 * response too.
 * It has the last look: when another hook changes the response afterwards, it is checked again. Throws a `ConfigError`
 * for a bad pattern.
 *
 * @example
 * ```ts
 * import * as OutputGuardrail from "@belay/hooks/OutputGuardrail"
 *
 * const noKeys = OutputGuardrail.make({ patterns: ["sk-[a-z0-9]{20,}"], redact: "[key]" })
 * const noPromises = OutputGuardrail.make({
 *   patterns: ["(?i)guaranteed returns"],
 *   feedback: "Do not promise returns. Say that all investments carry risk.",
 *   retries: 2
 * })
 * // Two of a kind need two names: a hook is a plain object.
 * const hooks = [noKeys, { ...noPromises, name: "no-promises" }]
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  const patterns = Result.getOrThrow(check(options))
  const { feedback, redact, retries, toolCalls = false, userMessage } = options
  const reason = options.reason ?? "Response blocked by content policy"
  const forUser = userMessage === undefined ? {} : { userMessage }
  const again = feedback === undefined ? {} : retries === undefined ? { feedback } : { feedback, retries }
  const blocked = HookAction.reject(reason, { ...forUser, ...again })
  const cut = HookAction.reject(reason, forUser)
  const hold = feedback !== undefined && typeof options.hold === "object" ? "untilPass" : options.hold ?? "untilPass"
  const onLlmDelta = (delta: LlmDelta) => {
    if (delta.type === "reasoning") return HookAction.transform({ ...delta, text: "" })
    if (delta.type === "tool-call") return toolCalls ? HookAction.transform({ ...delta, argsText: "" }) : undefined
    if (hold === "untilPass" || !patterns.test(delta.text)) return undefined
    return redact === undefined
      ? cut
      : HookAction.transform({ ...delta, text: patterns.redact(delta.text, redact, "open") })
  }
  return HookDefaults.apply(options, {
    name: "output-guardrail",
    priority: 10,
    kind: "policy",
    reinvoke: "ifChanged",
    hold,
    postLlmCall: ({ response }) =>
      !texts(response, toolCalls).some(patterns.test)
        ? undefined
        : redact === undefined
        ? blocked
        : HookAction.transform(redacted(response, toolCalls, (text) => patterns.redact(text, redact))),
    ...(hold === "none" ? {} : { onLlmDelta })
  })
}

const check = (options: Options): Result.Result<Pattern.Patterns, ConfigError> =>
  options.redact !== undefined && options.patterns.some((pattern) => typeof pattern === "function")
    ? Result.fail(
      new ConfigError({
        key: "output-guardrail.redact",
        message:
          "output-guardrail.redact: a function finds, but does not say what to replace; use strings or RegExps with redact"
      })
    )
    : Pattern.compile(options.patterns, "output-guardrail.patterns")
