/**
 * Reduces the results of tools to the part that matters, with JMESPath expressions.
 *
 * @since 0.1.0
 */
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import { type Json, whyNot } from "@belay/core/Json"
import { matcher } from "@belay/core/NamePattern"
import { checkOptions, invalidOption, whole } from "@belay/core/OptionCheck"
import { byLength, type Tokenizer } from "@belay/core/Tokenizer"
import { success } from "@belay/core/Tool"
import * as Result from "effect/Result"
import * as HookDefaults from "../HookDefaults.ts"
import { compileJmesPath } from "./internal/jmesPath.ts"

/** How the results of a tool are reduced. @category models @since 0.1.0 */
export type Rule = string | {
  /** A JMESPath expression. */
  readonly expression: string
  /** Results with at most this number of tokens stay as they are. Default 0: every result is reduced. */
  readonly maxTokens?: number
}

/** Options of `Projection.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /**
   * Expressions by the name of the tool; `*` stands for any characters, and the first name that matches counts. The
   * results of other tools stay as they are.
   */
  readonly projections: { readonly [tool: string]: Rule }
  /** Counts tokens. Default: one token for four characters. */
  readonly tokenizer?: Tokenizer
}

const optionKinds: HookDefaults.OwnKinds<Options> = {
  projections: "object",
  tokenizer: "object"
}

/**
 * Replaces the result of a tool by what a JMESPath expression finds in it. A text that contains JSON is parsed first.
 * Errors of tools stay as they are. A result also stays, with a warning, when it is not JSON, or when the expression
 * fails or finds nothing. Throws a `ConfigError` for an invalid expression or an unknown function.
 *
 * @example
 * ```ts
 * import * as Projection from "@belay/hooks/Projection"
 *
 * const smaller = Projection.make({
 *   projections: {
 *     get_pull_request: "files[*].{name: filename, additions: additions, deletions: deletions}",
 *     "sql_*": {
 *       expression: "{rows: rows[0:20], truncated: length(rows) > `20`, total: length(rows)}",
 *       maxTokens: 1_000
 *     }
 *   }
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  HookDefaults.checkKinds("projection", options, optionKinds, ["projections"])
  const { name = "projection", tokenizer = byLength } = options
  const rules = Result.getOrThrow(compileRules(name, options))
  return HookDefaults.apply(options, {
    name,
    priority: 50,
    postToolCall: ({ call, result }, ctx) => {
      const rule = result.ok ? rules.find(({ matches }) => matches(call.name)) : undefined
      if (rule === undefined || !result.ok) return undefined
      const { output } = result
      const isSmall = rule.maxTokens > 0 &&
        tokenizer.count(typeof output === "string" ? output : JSON.stringify(output)) <= rule.maxTokens
      if (isSmall) return undefined
      const projected = Result.flatMap(
        typeof output === "string" ? parseJson(output) : Result.succeed(output),
        rule.search
      )
      if (Result.isSuccess(projected)) return HookAction.transform(success(projected.success))
      ctx.warn(`the result of ${call.name} was not projected: ${projected.failure}`)
      return undefined
    }
  })
}

const compileRules = (name: string, { projections }: Options) =>
  Result.all(
    Object.entries(projections).map(([tool, rule]) => {
      const { expression, maxTokens = 0 } = typeof rule === "string" ? { expression: rule } : rule
      const key = `projections["${tool}"]`
      return Result.gen(function*() {
        yield* checkOptions(name, whole(`${key}.maxTokens`, maxTokens))
        const search = compileJmesPath(expression)
        if (Result.isFailure(search)) {
          const found = `${JSON.stringify(expression)} (${search.failure})`
          return yield* invalidOption(`${name}.${key}`, `expected a JMESPath expression, found ${found}`)
        }
        return { matches: matcher(tool), maxTokens, search: search.success }
      })
    })
  )

const parseJson = (text: string): Result.Result<Json, string> =>
  Result.flatMap(
    Result.try({ try: () => JSON.parse(text) as Json, catch: () => "it is a text that is not JSON" }),
    (json) => {
      const why = whyNot(json)
      return why === undefined ? Result.succeed(json) : Result.fail(why)
    }
  )
