/**
 * Shows the model the part of a tool's result that matters: a JMESPath expression by tool.
 *
 * @since 0.1.0
 */
import { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { type Json, whyNot } from "@belay/core/Json"
import { matcher } from "@belay/core/NamePattern"
import { checkOptions, whole } from "@belay/core/OptionCheck"
import { byLength, type Tokenizer } from "@belay/core/Tokenizer"
import { success } from "@belay/core/Tool"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import * as JmesPath from "./internal/jmespath.ts"

/** What becomes of a tool's results. @category models @since 0.1.0 */
export type Rule = string | {
  /** A JMESPath expression. */
  readonly expression: string
  /** Tokens up to which a result is left as it is; larger ones are projected. Default 0: every result is. */
  readonly maxTokens?: number
}

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /**
   * Expressions by tool: `*` in a name stands for any characters, and the first name that fits counts. Other tools'
   * results stay as they are.
   */
  readonly projections: { readonly [tool: string]: Rule }
  /** Default: four characters a token. */
  readonly tokenizer?: Tokenizer
}

/**
 * Replaces what a tool gave back by what a JMESPath expression makes of it. A text that is JSON is read first. Errors
 * of tools stay as they are; so does,
 * with a warning, a result that the expression breaks on or finds nothing in, and one that is not JSON. Throws a
 * `ConfigError` for an expression
 * that is none, or that calls a function that does not exist.
 *
 * @example
 * ```ts
 * import * as Projection from "@belay/hooks/Projection"
 *
 * const smaller = Projection.make({
 *   projections: {
 *     get_pull_request: "files[*].{name: filename, additions: additions, deletions: deletions}",
 *     "sql_*": { expression: "{rows: rows[0:20], truncated: length(rows) > `20`, total: length(rows)}", maxTokens: 1_000 }
 *   }
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  const { name = "projection", tokenizer = byLength } = options
  const rules = Result.getOrThrow(compiled(name, options))
  return HookDefaults.apply(options, {
    name,
    priority: 50,
    postToolCall: ({ call, result }, ctx) => {
      const rule = result.ok ? rules.find(({ fits }) => fits(call.name)) : undefined
      if (rule === undefined || !result.ok) return undefined
      const { output } = result
      const isSmall = rule.maxTokens > 0 &&
        tokenizer.count(typeof output === "string" ? output : JSON.stringify(output)) <= rule.maxTokens
      if (isSmall) return undefined
      const projected = Result.flatMap(
        typeof output === "string" ? parsed(output) : Result.succeed(output),
        rule.search
      )
      if (Result.isSuccess(projected)) return HookAction.transform(success(projected.success))
      ctx.warn(`the result of ${call.name} was not projected: ${projected.failure}`)
      return undefined
    }
  })
}

const compiled = (name: string, { projections }: Options) =>
  Result.all(
    Object.entries(projections).map(([tool, rule]) => {
      const { expression, maxTokens = 0 } = typeof rule === "string" ? { expression: rule } : rule
      const key = `${name}.projections["${tool}"]`
      return Result.flatMap(checkOptions(name, whole(`projections["${tool}"].maxTokens`, maxTokens)), () =>
        Result.mapBoth(JmesPath.compile(expression), {
          onSuccess: (search) => ({ fits: matcher(tool), maxTokens, search }),
          onFailure: (why) =>
            new ConfigError({
              key,
              message: `${key}: ${JSON.stringify(expression)} is no JMESPath expression (${why})`
            })
        }))
    })
  )

const parsed = (text: string): Result.Result<Json, string> =>
  Result.flatMap(
    Result.try({ try: () => JSON.parse(text) as Json, catch: () => "it is a text, and not JSON" }),
    (json) => {
      const why = whyNot(json)
      return why === undefined ? Result.succeed(json) : Result.fail(why)
    }
  )
