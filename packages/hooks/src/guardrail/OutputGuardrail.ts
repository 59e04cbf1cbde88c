/**
 * Rejects or redacts the answers of the model, before a tool runs or anybody reads them.
 *
 * @since 0.1.0
 */
import type { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { LlmDelta } from "@belay/core/LlmCall"
import { invalidOption } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import { withoutUndefined } from "../internal/withoutUndefined.ts"
import { mapResponseTexts, responseTexts } from "./internal/responseTexts.ts"
import * as Pattern from "./Pattern.ts"

/** Options of `OutputGuardrail.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** A response is rejected when one of these patterns matches a part of its text, reasoning or refusal. */
  readonly patterns: ReadonlyArray<Pattern.Pattern>
  /** Whether the texts in the arguments of tool calls are searched too. Default false. */
  readonly toolCalls?: boolean
  /** A text that replaces every match, instead of rejecting the response. Default: the response is rejected. */
  readonly redact?: string
  /** The reason in the error and the log. Default `Response blocked by content policy`. */
  readonly reason?: string
  /** The text that the user reads instead of the reason. Default: the reason. */
  readonly userMessage?: string
  /** Calls the model again with this advice, instead of failing the turn. Default: the turn fails. */
  readonly feedback?: string
  /** How often the model is called again, at most. Default 1. */
  readonly retries?: number
  /**
   * How much of a streamed answer to buffer before it is shown.
   *
   * - `untilPass`: all of it, until it was checked as a whole.
   * - `{ chars }`: this number of characters. `^` and `$` match at the ends of the buffer, and a match that is longer
   *   than the buffer may be shown in part. With `feedback` it becomes `untilPass`.
   * - `none`: nothing; an answer that matches is withdrawn when it is complete.
   *
   * Unless it is `none`, reasoning is not streamed. Default `untilPass`.
   */
  readonly hold?: "none" | "untilPass" | { readonly chars: number }
}

const optionKinds: HookDefaults.OwnKinds<Options> = {
  patterns: "list",
  toolCalls: "flag",
  redact: "text",
  reason: "text",
  userMessage: "text",
  feedback: "text",
  retries: "number",
  hold: ["text", "object"]
}

/**
 * Rejects a response that matches a pattern: it is discarded, and none of its tools run. A pattern that throws rejects
 * the response too. When a later hook changes the response, it is checked again. Throws a `ConfigError` for an invalid
 * pattern.
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
 * // Two guardrails in one agent need two names. A hook is a plain object, so it can be copied.
 * const hooks = [noKeys, { ...noPromises, name: "no-promises" }]
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  HookDefaults.checkKinds("output-guardrail", options, optionKinds, ["patterns"])
  const patterns = Result.getOrThrow(compilePatterns(options))
  const { feedback, redact, retries, toolCalls = false, userMessage } = options
  const reason = options.reason ?? "Response blocked by content policy"
  const rejection = HookAction.reject(
    reason,
    withoutUndefined<NonNullable<Parameters<typeof HookAction.reject>[1]>>({
      userMessage,
      feedback,
      retries: feedback === undefined ? undefined : retries
    })
  )
  /** Ends a stream. The model cannot be called again for an answer that is not complete. */
  const streamRejection = HookAction.reject(reason, userMessage === undefined ? undefined : { userMessage })
  const hold = feedback !== undefined && typeof options.hold === "object" ? "untilPass" : options.hold ?? "untilPass"
  const onLlmDelta = (delta: LlmDelta) => {
    if (delta.type === "reasoning") return HookAction.transform({ ...delta, text: "" })
    if (delta.type === "tool-call") return toolCalls ? HookAction.transform({ ...delta, argsText: "" }) : undefined
    if (hold === "untilPass" || !patterns.test(delta.text)) return undefined
    return redact === undefined
      ? streamRejection
      : HookAction.transform({ ...delta, text: patterns.redact(delta.text, redact, "open") })
  }
  return HookDefaults.apply(
    options,
    withoutUndefined<AgentHook>({
      name: "output-guardrail",
      priority: 10,
      kind: "policy",
      reinvoke: "reapply",
      hold,
      postLlmCall: ({ response }) => {
        if (!responseTexts(response, toolCalls).some(patterns.test)) return undefined
        if (redact === undefined) return rejection
        return HookAction.transform(mapResponseTexts(response, toolCalls, (text) => patterns.redact(text, redact)))
      },
      onLlmDelta: hold === "none" ? undefined : onLlmDelta
    })
  )
}

const compilePatterns = (options: Options): Result.Result<Pattern.Patterns, ConfigError> =>
  options.redact !== undefined && options.patterns.some((pattern) => typeof pattern === "function")
    ? invalidOption(
      "output-guardrail.redact",
      "a function cannot say what to replace; use texts or RegExps as patterns, or leave out redact"
    )
    : Pattern.compile(options.patterns, "output-guardrail.patterns")
