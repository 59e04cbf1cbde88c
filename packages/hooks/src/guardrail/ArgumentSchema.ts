/**
 * Narrows what an agent may pass to a tool, and tells the model what would fit.
 *
 * @since 0.1.0
 */
import { ConfigError } from "@belay/core/AgentError"
import type { AgentHook } from "@belay/core/AgentHook"
import * as HookAction from "@belay/core/HookAction"
import type { Json } from "@belay/core/Json"
import type { PreToolCallEvent } from "@belay/core/Tool"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import { RE2JS } from "re2js"
import * as HookDefaults from "../HookDefaults.ts"

/** What one argument has to be. Everything that is given has to hold. @category models @since 0.1.0 */
export interface Rule {
  /** One of these values. */
  readonly oneOf?: ReadonlyArray<Json>
  /** None of these values. */
  readonly noneOf?: ReadonlyArray<Json>
  /** A text in which this RE2 pattern is found; `^` and `$` pin it to the whole. */
  readonly pattern?: string
  /** A number from here. */
  readonly min?: number
  /** A number up to here. */
  readonly max?: number
  /** A text of at most so many characters, or a list of at most so many items. */
  readonly maxLength?: number
  /** Whether it has to be there. Default false. */
  readonly required?: boolean
}

/** Rules by argument; a dot leads inside: `"options.depth"`. @category models @since 0.1.0 */
export interface Rules {
  readonly [path: string]: Rule
}

/** An Effect Schema, a Standard Schema (zod, valibot, ArkType, ...), or rules. @category models @since 0.1.0 */
export type Fit = Schema.Top | StandardSchemaV1 | Rules

/** @category models @since 0.1.0 */
export interface Options extends HookDefaults.HookDefaults {
  /** The tools it is about: `*` stands for any characters, a leading `!` excludes. */
  readonly tools: string | ReadonlyArray<string>
  /** Arguments have to fit this. They are checked, not changed. */
  readonly allow?: Fit
  /** Arguments that fit this are refused. An argument that is not there fits no rule. */
  readonly deny?: Fit
  /** What the model reads beside what is wrong: what to do instead. */
  readonly advice?: string
}

/**
 * Rejects a tool call whose arguments do not fit, on top of the tool's own schema; the reason lists what is wrong and
 * where. Asked again when a later hook changes the
 * arguments. Throws a `ConfigError` for a bad pattern, or when there is nothing to check.
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
  const name = options.name ?? "argument-schema"
  const { allow, deny } = Result.getOrThrow(check(options, name))
  const advice = options.advice === undefined ? "" : `. ${options.advice}`
  const judge = (call: PreToolCallEvent, wrong: ReadonlyArray<string>, denied: ReadonlyArray<string> | undefined) =>
    wrong.length > 0
      ? HookAction.reject(`these arguments of ${call.name} are not allowed: ${wrong.slice(0, 5).join("; ")}${advice}`)
      : denied?.length === 0
      ? HookAction.reject(`these arguments of ${call.name} are not allowed${deny?.says ?? ""}${advice}`)
      : undefined
  return HookDefaults.apply(options, {
    name,
    priority: 20,
    kind: "policy",
    reinvoke: "ifChanged",
    tools: options.tools,
    preToolCall: (call) => {
      const wrong = allow === undefined ? [] : allow.whyNot(call.args)
      const denied = deny?.whyNot(call.args)
      return wrong instanceof Promise || denied instanceof Promise
        ? Promise.all([wrong, denied]).then(([first, second]) => judge(call, first, second))
        : judge(call, wrong, denied)
    }
  })
}

interface Check {
  /** Everything that does not fit, in words. */
  readonly whyNot: (args: Json) => ReadonlyArray<string> | Promise<ReadonlyArray<string>>
  /** What it asks for, in words. */
  readonly says: string
}

const check = ({ allow, deny, tools }: Options, name: string) => {
  const wrong = (key: string, message: string) =>
    Result.fail(new ConfigError({ key: `${name}.${key}`, message: `${name}.${key}: ${message}` }))
  const of = (key: "allow" | "deny", fit: Fit | undefined): Result.Result<Check | undefined, ConfigError> => {
    if (fit === undefined) return Result.succeed(undefined)
    if (Schema.isSchema(fit)) return Result.succeed(ofStandard(Schema.toStandardSchemaV1(fit as never)))
    if (isStandard(fit)) return Result.succeed(ofStandard(fit))
    if (typeof fit !== "object" || fit === null) {
      return wrong(key, "expected an Effect Schema, a Standard Schema or rules by argument")
    }
    return Result.map(
      Result.all(
        Object.entries(fit as Rules).map(([path, rule]) => ofRule(path, rule, key === "deny", `${name}.${key}.${path}`))
      ),
      (rules) => ({
        whyNot: (args) => rules.flatMap(({ whyNot }) => whyNot(args) as ReadonlyArray<string>),
        says: rules.length === 0 ? "" : `: ${rules.map(({ says }) => says).join("; ")}`
      })
    )
  }
  return Result.gen(function*() {
    if (tools === undefined) return yield* wrong("tools", "say which tools it is about")
    if (allow === undefined && deny === undefined) {
      return yield* wrong("allow", "there is nothing to check: give `allow` or `deny`")
    }
    return { allow: yield* of("allow", allow), deny: yield* of("deny", deny) }
  })
}

const isStandard = (fit: Fit): fit is StandardSchemaV1 =>
  (typeof fit === "object" || typeof fit === "function") && fit !== null && "~standard" in fit

const ofStandard = (schema: StandardSchemaV1): Check => {
  const read = (result: StandardSchemaV1.Result<unknown>): ReadonlyArray<string> =>
    result.issues === undefined
      ? []
      : result.issues.length === 0
      ? ["they do not fit"]
      : result.issues.map(({ message, path = [] }) => {
        const at = path.map((step) => String(typeof step === "object" ? step.key : step)).join(".")
        return at === "" ? message : `${at}: ${message}`
      })
  return {
    says: "",
    whyNot: (args) => {
      const result = schema["~standard"].validate(args)
      return result instanceof Promise ? result.then(read) : read(result)
    }
  }
}

const ofRule = (path: string, rule: Rule, all: boolean, key: string): Result.Result<Check, ConfigError> => {
  const { max, maxLength, min, noneOf, oneOf, pattern, required = all } = rule
  const unknown = Object.keys(rule).find((name) => !known.has(name))
  if (unknown !== undefined) {
    return Result.fail(
      new ConfigError({ key, message: `${key}: unknown rule "${unknown}": expected one of ${[...known].join(", ")}` })
    )
  }
  const compiled = pattern === undefined ? Result.succeed(undefined) : Result.try({
    try: () => RE2JS.compile(pattern),
    catch: (error) =>
      new ConfigError({ key, message: `${key}: ${JSON.stringify(pattern)} is no RE2 pattern (${String(error)})` })
  })
  return Result.map(compiled, (regex) => {
    const steps = path.split(".")
    const equals = (value: Json) => {
      const text = JSON.stringify(value)
      return (other: Json) => JSON.stringify(other) === text
    }
    const tests: ReadonlyArray<readonly [says: string, holds: (value: Json) => boolean]> = [
      ...(oneOf === undefined ? [] : [[`one of ${shown(oneOf)}`, (value: Json) => oneOf.some(equals(value))] as const]),
      ...(noneOf === undefined
        ? []
        : [[`none of ${shown(noneOf)}`, (value: Json) => !noneOf.some(equals(value))] as const]),
      ...(regex === undefined
        ? []
        : [[`a text like ${pattern}`, (value: Json) => typeof value === "string" && regex.test(value)] as const]),
      ...(min === undefined
        ? []
        : [[`a number from ${min}`, (value: Json) => typeof value === "number" && value >= min] as const]),
      ...(max === undefined
        ? []
        : [[`a number up to ${max}`, (value: Json) => typeof value === "number" && value <= max] as const]),
      ...(maxLength === undefined
        ? []
        : [
          [
            `at most ${maxLength} long`,
            (value: Json) => (typeof value === "string" || Array.isArray(value)) && value.length <= maxLength
          ] as const
        ])
    ]
    return {
      says: `${path} is ${tests.map(([says]) => says).join(" and ") || "there"}`,
      whyNot: (args) => {
        const value = at(args, steps)
        if (value === undefined) return required ? [`${path}: expected it to be there`] : []
        return tests.flatMap(([says, holds]) => holds(value) ? [] : [`${path}: expected ${says}`])
      }
    }
  })
}

const known: ReadonlySet<string> = new Set(["oneOf", "noneOf", "pattern", "min", "max", "maxLength", "required"])

const shown = (values: ReadonlyArray<Json>): string =>
  values.map((value) => JSON.stringify(value)).join(", ").slice(0, 500)

/** What stands at a path; nothing where it leads nowhere, or to what an object only inherits. */
const at = (value: Json, steps: ReadonlyArray<string>): Json | undefined => {
  let here: Json | undefined = value
  for (const step of steps) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, step)) return undefined
    here = (here as { readonly [key: string]: Json })[step]
  }
  return here
}
