/**
 * Checks the options of a public constructor. The error names the option, what was expected and what was found.
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

/**
 * An option, whether its value will do, and what would: an option that is absent always will.
 *
 * @category models
 * @since 0.1.0
 */
export type Expectation = readonly [key: string, value: unknown, fits: (value: never) => boolean, expected: string]

/** The first expectation that is not met, as an error that names the option. @category operations @since 0.1.0 */
export const checkOptions = (
  hook: string,
  ...expectations: ReadonlyArray<Expectation>
): Result.Result<void, ConfigError> => {
  const broken = expectations.find(([, value, fits]) => value !== undefined && !fits(value as never))
  if (broken === undefined) return Result.succeed(undefined)
  const [key, value, , expected] = broken
  const path = `${hook}.${key}`
  return Result.fail(new ConfigError({ key: path, message: `${path}: expected ${expected}, found ${show(value)}` }))
}

/** A whole number that is not below `min`. @category constructors @since 0.1.0 */
export const whole = (key: string, value: unknown, min = 0): Expectation => [
  key,
  value,
  (number: number) => Number.isSafeInteger(number) && number >= min,
  `a whole number from ${min}`
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
  if (typeof value === "object" || typeof value === "function") return `a value of type ${typeof value}`
  return typeof value === "string" ? JSON.stringify(value) : `${value as number}`
}
