/**
 * Restricts the arguments of tool calls, and informs the model which arguments are allowed.
 *
 * @since 0.1.0
 */
import type { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { Json } from "@belay/core/Json"
import { checkOptions, invalidOption, oneOf } from "@belay/core/OptionCheck"
import type { PreToolCallEvent } from "@belay/core/Tool"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import type { RE2JS } from "re2js"
import * as HookDefaults from "../HookDefaults.ts"
import { compileRe2 } from "./internal/re2.ts"

/** The conditions for one argument. The argument must meet all of them. @category models @since 0.1.0 */
export interface Rule {
  /** The value is one of these. */
  readonly oneOf?: ReadonlyArray<Json>
  /** The value is none of these. */
  readonly noneOf?: ReadonlyArray<Json>
  /** The value is a text, and this RE2 pattern matches a part of it; `^` and `$` match its ends. */
  readonly pattern?: string
  /** The value is a number that is not below this one. */
  readonly min?: number
  /** The value is a number that is not above this one. */
  readonly max?: number
  /** The value is a text or a list with at most this number of characters or items. */
  readonly maxLength?: number
  /** Whether the argument is required. Default false in `allow`, true in `deny`. */
  readonly required?: boolean
}

/** Rules by argument. A dot names a field of an object: `"options.depth"`. @category models @since 0.1.0 */
export interface Rules {
  readonly [path: string]: Rule
}

/** An Effect Schema, a Standard Schema (zod, valibot, ArkType, ...), or rules. @category models @since 0.1.0 */
export type Fit = Schema.Top | StandardSchemaV1 | Rules

/** Options of `ArgumentSchema.make`. @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** The tools whose arguments are checked; `*` stands for any characters, a leading `!` excludes. Required. */
  readonly tools: string | ReadonlyArray<string>
  /** The arguments must match this. They are checked, not changed. Default: everything is allowed. */
  readonly allow?: Fit
  /** Arguments that match this are rejected. A missing argument matches no rule. Default: nothing is denied. */
  readonly deny?: Fit
  /** Text for the model that follows the reason, such as what to do instead. Default none. */
  readonly advice?: string
}

const optionKinds: HookDefaults.OwnKinds<Options> = {
  allow: "any",
  deny: "any",
  advice: "text"
}

/**
 * Rejects a tool call whose arguments are not allowed, in addition to the tool's own schema. The reason lists what is
 * wrong and where. When a later hook changes the arguments, they are checked again. Throws a `ConfigError` for an
 * invalid pattern, or when neither `allow` nor `deny` is given.
 *
 * @example
 * ```ts
 * import * as ArgumentSchema from "@belay/hooks/ArgumentSchema"
 * import * as Schema from "effect/Schema"
 *
 * const small = ArgumentSchema.make({
 *   tools: "refund",
 *   allow: { amount: { max: 100, required: true }, "options.currency": { oneOf: ["EUR", "USD"] } },
 *   advice: "Ask a colleague for more."
 * })
 * const inside = ArgumentSchema.make({
 *   name: "inside",
 *   tools: ["read_file", "write_file"],
 *   allow: Schema.Struct({ path: Schema.String.check(Schema.isStartingWith("workspace/")) }),
 *   deny: { path: { pattern: "(^|/)\\.\\.(/|$)" } }
 * })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): AgentHook => {
  HookDefaults.checkKinds("argument-schema", options, optionKinds)
  const name = options.name ?? "argument-schema"
  const { allow, deny } = Result.getOrThrow(compileOptions(options, name))
  const advice = options.advice === undefined ? "" : `. ${options.advice}`
  const decide = (call: PreToolCallEvent, problems: Problems, denyProblems: Problems | undefined) => {
    const start = `these arguments of ${call.name} are not allowed`
    if (problems.length > 0) return HookAction.reject(`${start}: ${problems.slice(0, 5).join("; ")}${advice}`)
    // Arguments that have no problem with the denied schema match it.
    return denyProblems?.length === 0 ? HookAction.reject(`${start}${deny?.description ?? ""}${advice}`) : undefined
  }
  return HookDefaults.apply(options, {
    name,
    priority: 20,
    kind: "policy",
    reinvoke: "ifChanged",
    tools: options.tools,
    preToolCall: (call) => {
      const problems = allow === undefined ? [] : allow.problems(call.args)
      const denyProblems = deny?.problems(call.args)
      return problems instanceof Promise || denyProblems instanceof Promise
        ? Promise.all([problems, denyProblems]).then(([first, second]) => decide(call, first, second))
        : decide(call, problems, denyProblems)
    }
  })
}

/** What is wrong with arguments. */
type Problems = ReadonlyArray<string>

/** A compiled schema. */
interface Check {
  readonly problems: (args: Json) => Problems | Promise<Problems>
  /** Describes the arguments that match. */
  readonly description: string
}

/** A compiled rule. */
interface RuleCheck extends Check {
  readonly problems: (args: Json) => Problems
}

const compileOptions = ({ allow, deny, tools }: Options, name: string) =>
  Result.gen(function*() {
    if (tools === undefined) return yield* invalidOption(`${name}.tools`, "expected the names of tools")
    if (allow === undefined && deny === undefined) {
      return yield* invalidOption(`${name}.allow`, "expected `allow` or `deny`, found neither")
    }
    return {
      allow: allow === undefined ? undefined : yield* compileFit(allow, `${name}.allow`, false),
      deny: deny === undefined ? undefined : yield* compileFit(deny, `${name}.deny`, true)
    }
  })

const compileFit = (fit: Fit, key: string, isRequired: boolean): Result.Result<Check, ConfigError> => {
  // Standard Schema has no type for the services of a schema; a schema that needs some fails when it is used.
  if (Schema.isSchema(fit)) return Result.succeed(standardCheck(Schema.toStandardSchemaV1(fit as never)))
  if (isStandardSchema(fit)) return Result.succeed(standardCheck(fit))
  if (typeof fit !== "object" || fit === null) {
    return invalidOption(key, "expected an Effect Schema, a Standard Schema or rules by argument")
  }
  const rules = Object.entries(fit).map(([path, rule]) => compileRule(path, rule, `${key}.${path}`, isRequired))
  return Result.map(Result.all(rules), (checks): RuleCheck => ({
    problems: (args) => checks.flatMap(({ problems }) => problems(args)),
    description: checks.length === 0 ? "" : `: ${checks.map(({ description }) => description).join("; ")}`
  }))
}

const isStandardSchema = (fit: Fit): fit is StandardSchemaV1 =>
  (typeof fit === "object" || typeof fit === "function") && fit !== null && "~standard" in fit

const standardCheck = (schema: StandardSchemaV1): Check => {
  const problemsOf = ({ issues }: StandardSchemaV1.Result<unknown>): Problems => {
    if (issues === undefined) return []
    return issues.length === 0 ? ["they do not match the schema"] : issues.map(describeIssue)
  }
  return {
    description: "",
    problems: (args) => {
      const result = schema["~standard"].validate(args)
      return result instanceof Promise ? result.then(problemsOf) : problemsOf(result)
    }
  }
}

const describeIssue = ({ message, path = [] }: StandardSchemaV1.Issue): string => {
  const steps = path.map((step) => String(typeof step === "object" ? step.key : step)).join(".")
  return steps === "" ? message : `${steps}: ${message}`
}

const ruleKeys = ["oneOf", "noneOf", "pattern", "min", "max", "maxLength", "required"]

const compileRule = (
  path: string,
  rule: Rule,
  key: string,
  isRequired: boolean
): Result.Result<RuleCheck, ConfigError> =>
  Result.gen(function*() {
    yield* checkOptions(key, ...Object.keys(rule).map((name) => oneOf("rule", name, ruleKeys)))
    const { pattern, required = isRequired } = rule
    const regex = pattern === undefined ? undefined : yield* compileRe2(pattern, key)
    const conditions = conditionsOf(rule, regex)
    const steps = path.split(".")
    return {
      description: `${path} is ${conditions.map(({ expected }) => expected).join(" and ") || "present"}`,
      problems: (args) => {
        const value = valueAt(args, steps)
        if (value === undefined) return required ? [`${path}: expected a value, found none`] : []
        return conditions.flatMap(({ expected, holds }) => holds(value) ? [] : [`${path}: expected ${expected}`])
      }
    }
  })

/** One condition for a value, and its description. */
interface Condition {
  readonly expected: string
  readonly holds: (value: Json) => boolean
}

const conditionsOf = (
  { max, maxLength, min, noneOf, oneOf: allowed, pattern }: Rule,
  regex: RE2JS | undefined
): ReadonlyArray<Condition> => {
  const conditions: Array<Condition> = []
  const add = (expected: string, holds: Condition["holds"]) => conditions.push({ expected, holds })
  if (allowed !== undefined) add(`one of ${describeValues(allowed)}`, (value) => allowed.some(equals(value)))
  if (noneOf !== undefined) add(`none of ${describeValues(noneOf)}`, (value) => !noneOf.some(equals(value)))
  if (regex !== undefined) add(`a text like ${pattern}`, (value) => typeof value === "string" && regex.test(value))
  if (min !== undefined) add(`a number from ${min}`, (value) => typeof value === "number" && value >= min)
  if (max !== undefined) add(`a number up to ${max}`, (value) => typeof value === "number" && value <= max)
  if (maxLength !== undefined) {
    const hasLength = (value: Json): value is string | ReadonlyArray<Json> =>
      typeof value === "string" || Array.isArray(value)
    add(`at most ${maxLength} long`, (value) => hasLength(value) && value.length <= maxLength)
  }
  return conditions
}

const equals = (value: Json) => {
  const text = JSON.stringify(value)
  return (other: Json) => JSON.stringify(other) === text
}

const describeValues = (values: ReadonlyArray<Json>): string =>
  values.map((value) => JSON.stringify(value)).join(", ").slice(0, 500)

/** The value at a path; `undefined` where there is none, also for inherited properties. */
const valueAt = (value: Json, steps: ReadonlyArray<string>): Json | undefined => {
  let current: Json | undefined = value
  for (const step of steps) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, step)) return undefined
    // An object or a list has the property, as was checked.
    current = (current as { readonly [key: string]: Json })[step]
  }
  return current
}
