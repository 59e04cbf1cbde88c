/**
 * Turns raw failures of tools into something a model can use: no stacks, no paths of the machine, not too long.
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
import { cleaned } from "./internal/errortext.ts"

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** Writes what the model reads, from the error as the options below leave it. One that breaks is passed over. */
  readonly format?: (error: string, event: PostToolCallEvent) => string
  /** Leaves the lines of stack traces out (JavaScript, Python, Java). Default true. */
  readonly hideStacks?: boolean
  /**
   * Writes `./src/a.ts` for a path below the agent's folder, and `.../a.ts` for any other absolute path. Default true.
   */
  readonly hidePaths?: boolean
  /** Most characters of an error; the beginning and the end are kept. Default 2,000. */
  readonly maxLength?: number
}

/**
 * Rewrites the error of every failed call. It stays an error: the model knows that the call failed. When it breaks, the
 * model reads only that.
 * Throws a `ConfigError` for a bad length.
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
  const { format, hidePaths = true, hideStacks = true, maxLength = 2_000, name = "tool-errors" } = options
  Result.getOrThrow(checkOptions(name, whole("maxLength", maxLength, 1)))
  return HookDefaults.apply(options, {
    name,
    // The first to see a result: other hooks get the clean text.
    priority: 900,
    kind: "policy",
    postToolCall: (event, ctx) => {
      const { result } = event
      if (result.ok) return undefined
      const clean = cleaned(cutMiddle(result.error, Math.max(maxLength * 4, 20_000)), {
        hideStacks,
        ...(hidePaths ? { cwd: ctx.cwd } : {})
      })
      const said = format === undefined ? clean : Result.getOrElse(Result.try(() => format(clean, event)), () => clean)
      const error = cutMiddle(said, maxLength)
      return error === result.error ? undefined : HookAction.transform(failure(error))
    }
  })
}
