/**
 * Makes the errors of tools readable for a model: without stack traces and paths of the machine, and not too long.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { checkOptions, whole } from "@belay/core/OptionCheck"
import { cutMiddle } from "@belay/core/Text"
import { failure, type PostToolCallEvent } from "@belay/core/Tool"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import { cleanErrorText } from "./internal/errorText.ts"

/** Options of `ToolErrors.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /**
   * Returns the text for the model, from the cleaned error. When it throws, the cleaned error is used. Default none.
   */
  readonly format?: (error: string, event: PostToolCallEvent) => string
  /** Whether the lines of stack traces are removed (JavaScript, Python, Java). Default true. */
  readonly hideStacks?: boolean
  /**
   * Whether absolute paths are shortened: to `./src/a.ts` below the working folder, otherwise to `.../a.ts`. Default
   * true.
   */
  readonly hidePaths?: boolean
  /** The longest error, in characters. The middle of a longer one is removed. Default 2,000. */
  readonly maxLength?: number
}

const optionKinds: HookDefaults.OwnKinds<Options> = {
  format: "function",
  hideStacks: "flag",
  hidePaths: "flag",
  maxLength: "number"
}

/**
 * Rewrites the error of every failed tool call. The result stays an error, so that the model knows that the call
 * failed. Throws a `ConfigError` for an invalid length.
 *
 * @example
 * ```ts
 * import * as ToolErrors from "@belay/hooks/ToolErrors"
 *
 * const errors = ToolErrors.make({
 *   maxLength: 500,
 *   format: (error, { call }) => `${call.name} failed: ${error}\nCheck the arguments before you try again.`
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): AgentHook => {
  HookDefaults.checkKinds("tool-errors", options, optionKinds)
  const { format, hidePaths = true, hideStacks = true, maxLength = 2_000, name = "tool-errors" } = options
  Result.getOrThrow(checkOptions(name, whole("maxLength", maxLength, 1)))
  return HookDefaults.apply(options, {
    name,
    // Makes the hook the first one to see a result, so that other hooks see the cleaned text.
    priority: 900,
    kind: "policy",
    postToolCall: (event, ctx) => {
      const { result } = event
      if (result.ok) return undefined
      const raw = cutMiddle(result.error, Math.max(maxLength * 4, 20_000))
      const cleaned = cleanErrorText(raw, { hideStacks, cwd: hidePaths ? ctx.cwd : undefined })
      const text = format === undefined
        ? cleaned
        : Result.getOrElse(Result.try(() => format(cleaned, event)), () => cleaned)
      const error = cutMiddle(text, maxLength)
      return error === result.error ? undefined : HookAction.transform(failure(error))
    }
  })
}
