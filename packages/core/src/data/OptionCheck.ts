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
import { ConfigError } from "./AgentError.ts"
import { nearest } from "./NamePattern.ts"

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
 * The names of all options of `O`, for `checkNames`. The compiler requires each name and allows no other.
 *
 * @category models
 * @since 0.1.0
 */
export type OptionNames<O> = { readonly [K in O extends unknown ? keyof O : never]-?: true }

/**
 * Checks that a program passed an object whose options are all known. Fails with a `ConfigError` that suggests the name
 * that was probably meant. Options that are `undefined` do not count.
 *
 * @example
 * ```ts
 * import { checkNames, type OptionNames } from "@belay/core/OptionCheck"
 * import * as Result from "effect/Result"
 *
 * interface Options {
 *   readonly limit?: number
 * }
 * const optionNames: OptionNames<Options> = { limit: true }
 * const make = (options: Options = {}) => {
 *   Result.getOrThrow(checkNames("my-hook", options, optionNames))
 * }
 * ```
 * @category operations
 * @since 0.1.0
 */
export const checkNames = (
  owner: string,
  options: unknown,
  known: { readonly [option: string]: true }
): Result.Result<void, ConfigError> => {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    const found = Array.isArray(options) ? "a list" : options === undefined ? "nothing" : show(options)
    return invalidOption(owner, `expected an object with options, found ${found}`)
  }
  for (const [key, value] of Object.entries(options)) {
    if (value !== undefined && !Object.hasOwn(known, key)) {
      return invalidOption(`${owner}.${key}`, unknownName(key, Object.keys(known)))
    }
  }
  return Result.succeed(undefined)
}

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
export const invalidOption = (key: string, problem: string): Result.Result<never, ConfigError> =>
  Result.fail(new ConfigError({ key, message: `${key}: ${problem}` }))

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
  `one of ${choices.join(", ")}`
]

const show = (value: unknown): string => {
  if (value === null) return "nothing"
  if (typeof value === "string") return JSON.stringify(value)
  return typeof value === "number" || typeof value === "boolean" ? `${value}` : `a value of type ${typeof value}`
}
