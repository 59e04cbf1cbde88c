/**
 * Checks the options of a public constructor. Use it wherever a program passes values that types cannot check: the
 * error names the option, what was expected and what was found.
 *
 * @example
 * ```ts
 * import { checkOptions, whole } from "@belay/core/OptionCheck"
 * import * as Result from "effect/Result"
 *
 * const make = (options: { readonly limit: number }) => {
 *   Result.getOrThrow(checkOptions("my-hook", whole("limit", options.limit, 1)))
 * }
 * ```
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import { ConfigError } from "../AgentError.ts"
import { readDuration } from "../internal/durations.ts"
import { nearest } from "../text/NamePattern.ts"

/**
 * A check of one option: its name, its value, whether the value is valid, and a description of valid values for the
 * error message. An absent option (`undefined`) is always valid.
 *
 * @category models
 * @since 0.1.0
 */
export type Expectation = readonly [key: string, value: unknown, isValid: (value: never) => boolean, expected: string]

/**
 * Checks options in order. Fails with a `ConfigError` for the first option that is not valid. The message begins with
 * `owner`, the name of the hook or the constructor.
 *
 * @category operations
 * @since 0.1.0
 */
export const checkOptions = (
  owner: string,
  ...expectations: ReadonlyArray<Expectation>
): Result.Result<void, ConfigError> => {
  // Each check was written for the type of its own value, so it can take the value.
  const invalid = expectations.find(([, value, isValid]) => value !== undefined && !isValid(value as never))
  if (invalid === undefined) return Result.succeed(undefined)
  const [key, value, , expected] = invalid
  return invalidOption(`${owner}.${key}`, `expected ${expected}, found ${show(value)}`)
}

/**
 * The kind of value that an option takes: `text`, `texts` (one text or a list of texts), `textList`, `number`, `flag`
 * (true or false), `list` and `object` (without null in them), `duration`, `function`, or `any`.
 *
 * @category models
 * @since 0.1.0
 */
export type OptionKind = keyof typeof kinds

/**
 * All options of `O` with their kinds, for `checkKinds`. The compiler requires each option and allows no other.
 *
 * @category models
 * @since 0.1.0
 */
export type OptionKinds<O> = { readonly [K in O extends unknown ? keyof O : never]-?: OptionSpec }

/** What an option takes: one kind, one of several kinds, or options of its own. @category models @since 0.1.0 */
export type OptionSpec = OptionKind | ReadonlyArray<OptionKind> | NestedOptions

/** Options inside of an option. See `optionsIn`. @category models @since 0.1.0 */
export interface NestedOptions {
  readonly inside: "object" | "list" | "table"
  readonly known: Known
  readonly required: ReadonlyArray<string>
}

interface Known {
  readonly [option: string]: OptionSpec
}

/**
 * Describes options inside of an option: an `object` with options, a `list` of such objects, or a `table` of them by
 * name, in which `false` is allowed too.
 *
 * @category constructors
 * @since 0.1.0
 */
export const optionsIn = <O>(
  inside: NestedOptions["inside"],
  known: OptionKinds<O>,
  required: ReadonlyArray<string> = []
): NestedOptions => ({
  inside,
  // The names of the options are texts.
  known: known as Known,
  required
})

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((item) => typeof item === "string")

const kinds = {
  text: ["a text", (value: unknown) => typeof value === "string"],
  texts: ["a text or a list of texts", (value: unknown) => typeof value === "string" || isTexts(value)],
  textList: ["a list of texts", isTexts],
  number: ["a number", (value: unknown) => typeof value === "number" && !Number.isNaN(value)],
  flag: ["true or false", (value: unknown) => typeof value === "boolean"],
  list: ["a list", (value: unknown) => Array.isArray(value) && value.every(isPresent)],
  object: ["an object", (value: unknown) => isObject(value) && Object.values(value).every((item) => item !== null)],
  duration: [
    "milliseconds or a duration such as \"5 seconds\"",
    (value: unknown) => readDuration(value) !== undefined
  ],
  function: ["a function", (value: unknown) => typeof value === "function"],
  any: ["a value", () => true]
} as const

const isPresent = (value: unknown): boolean => value !== null && value !== undefined

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/**
 * Checks the options that a program passed: they are an object, every option is known and has a value of its kind, and
 * the required ones are there. Fails with a `ConfigError`; for an unknown option it suggests the one that was probably
 * meant. An option that is `undefined` counts as absent. An instance of a class may have other fields.
 *
 * @example
 * ```ts
 * import { checkKinds, type OptionKinds } from "@belay/core/OptionCheck"
 * import * as Result from "effect/Result"
 *
 * interface Options {
 *   readonly limit: number
 *   readonly tools?: string | ReadonlyArray<string>
 * }
 * const optionKinds: OptionKinds<Options> = { limit: "number", tools: "texts" }
 * const make = (options: Options) => {
 *   Result.getOrThrow(checkKinds("my-hook", options, optionKinds, ["limit"]))
 * }
 * ```
 * @category operations
 * @since 0.1.0
 */
export const checkKinds = (
  owner: string,
  options: unknown,
  known: { readonly [option: string]: OptionSpec },
  required: ReadonlyArray<string> = []
): Result.Result<void, ConfigError> => {
  if (!isObject(options)) {
    return invalidOption(owner, `expected an object with options, found ${show(options)}`)
  }
  const names = Object.keys(known)
  const unknown = isPlain(options) ? definedKeys(options).find((key) => !names.includes(key)) : undefined
  if (unknown !== undefined) return invalidOption(`${owner}.${unknown}`, unknownName(unknown, names))
  // It is an object, whose keys are texts.
  const given = options as { readonly [key: string]: unknown }
  for (const [key, kind] of Object.entries(known)) {
    const value = given[key]
    if (value === undefined) {
      if (required.includes(key)) return invalidOption(`${owner}.${key}`, "is missing, and it is required")
      continue
    }
    const checked = isNested(kind)
      ? checkNested(`${owner}.${key}`, value, kind)
      : checkKind(`${owner}.${key}`, value, kind)
    if (Result.isFailure(checked)) return checked
  }
  return Result.succeed(undefined)
}

const isNested = (spec: OptionSpec): spec is NestedOptions => typeof spec === "object" && "inside" in spec

const checkKind = (
  key: string,
  value: unknown,
  kind: OptionKind | ReadonlyArray<OptionKind>
): Result.Result<void, ConfigError> => {
  const allowed = [kind].flat()
  if (allowed.some((one) => kinds[one][1](value))) return Result.succeed(undefined)
  const expected = allowed.map((one) => kinds[one][0]).join(" or ")
  return invalidOption(key, `expected ${expected}, found ${show(value)}`)
}

const checkNested = (
  key: string,
  value: unknown,
  { inside, known, required }: NestedOptions
): Result.Result<void, ConfigError> => {
  if (inside === "object") return checkKinds(key, value, known, required)
  const whole = checkKind(key, value, inside === "list" ? "list" : "object")
  if (Result.isFailure(whole)) return whole
  // It is a list or an object.
  for (const [name, item] of Object.entries(value as object)) {
    if (inside === "table" && item === false) continue
    const checked = checkKinds(inside === "list" ? `${key}[${name}]` : `${key}.${name}`, item, known, required)
    if (Result.isFailure(checked)) return checked
  }
  return Result.succeed(undefined)
}

/** An instance of a class may have fields of its own. */
const isPlain = (value: object): boolean => [Object.prototype, null].includes(Object.getPrototypeOf(value))

const definedKeys = (value: object): ReadonlyArray<string> =>
  Object.entries(value).flatMap(([key, item]) => item === undefined ? [] : [key])

/** Describes an unknown option, and names the one that was probably meant. */
export const unknownName = (key: string, known: ReadonlyArray<string>): string => {
  const meant = nearest(key, known)
  const hint = meant === undefined ? `the options are ${known.join(", ")}` : `did you mean "${meant}"?`
  return `there is no option "${key}"; ${hint}`
}

/**
 * Fails with the error for one option. Use it for problems that an `Expectation` cannot describe, such as an option
 * that contradicts another.
 *
 * @category operations
 * @since 0.1.0
 */
export const invalidOption = (key: string, problem: string): Result.Result<never, ConfigError> => {
  // Programs without types may pass anything.
  const named = typeof key === "string" ? key : show(key)
  return Result.fail(new ConfigError({ key: named, message: `${named}: ${problem}` }))
}

/**
 * Checks that an argument is an object, before its fields are read.
 *
 * @category operations
 * @since 0.2.0
 */
export const checkObject = (owner: string, value: unknown, what: string): Result.Result<void, ConfigError> =>
  isObject(value) || typeof value === "function"
    ? Result.succeed(undefined)
    : invalidOption(owner, `expected ${what}, found ${show(value)}`)

/** A whole number from `min` to `max`. @category constructors @since 0.1.0 */
export const whole = (key: string, value: unknown, min = 0, max = Infinity): Expectation => [
  key,
  value,
  (number: number) => Number.isSafeInteger(number) && number >= min && number <= max,
  max === Infinity ? `a whole number from ${min}` : `a whole number from ${min} to ${max}`
]

/** A number from `min` to `max`. @category constructors @since 0.1.0 */
export const within = (key: string, value: unknown, min: number, max = Infinity): Expectation => [
  key,
  value,
  (number: number) => Number.isFinite(number) && number >= min && number <= max,
  max === Infinity ? `a number from ${min}` : `a number from ${min} to ${max}`
]

/** One of a few texts. @category constructors @since 0.1.0 */
export const oneOf = (key: string, value: unknown, choices: ReadonlyArray<string>): Expectation => [
  key,
  value,
  (choice: string) => choices.includes(choice),
  `one of ${choices.join(", ")}${meantOf(value, choices)}`
]

const meantOf = (value: unknown, choices: ReadonlyArray<string>): string => {
  const meant = typeof value !== "string" || choices.includes(value) ? undefined : nearest(value, choices)
  return meant === undefined ? "" : ` (did you mean "${meant}"?)`
}

/** Describes a value for an error message. */
export const show = (value: unknown): string => {
  if (value === null || value === undefined) return "nothing"
  if (Array.isArray(value)) {
    const empty = value.findIndex((item) => !isPresent(item))
    return empty < 0 ? "a list" : `a list whose item ${empty} is ${String(value[empty])}`
  }
  if (typeof value === "string") return JSON.stringify(value)
  const [empty] = isObject(value) ? Object.entries(value).find(([, item]) => item === null) ?? [] : []
  if (empty !== undefined) return `an object whose ${empty} is null`
  return typeof value === "number" || typeof value === "boolean" ? `${value}` : `a value of type ${typeof value}`
}
