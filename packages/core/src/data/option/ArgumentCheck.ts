/**
 * Names the public function, and its arguments, when a program without types gives it values that it cannot read.
 *
 * @since 0.2.0
 */
import { ConfigError } from "../AgentError.ts"
import { show } from "./OptionCheck.ts"

/**
 * Returns the same function, except that it throws a `ConfigError` where values of the wrong type would end in a
 * `TypeError` from inside. Nothing is checked before the call, so right values cost nothing. Do not use it for a
 * function that calls a function of the program: its errors are not about the arguments.
 *
 * @example
 * ```ts
 * import { checked } from "@belay/core/ArgumentCheck"
 *
 * const first = checked("Names.first", ["names"], (names: ReadonlyArray<string>) => names[0]?.trim())
 * ```
 * @category constructors
 * @since 0.2.0
 */
export const checked = <F extends (...args: never) => unknown>(
  name: string,
  parameters: ReadonlyArray<string>,
  call: F
): F => {
  const safe = (...args: ReadonlyArray<unknown>): unknown => {
    // oxlint-disable-next-line belay/no-try -- a `Result` for each call would make right values cost something
    try {
      return call(...args as never)
    } catch (error) {
      // oxlint-disable-next-line belay/no-throw -- the function throws already
      throw isFromInside(error) || isOfOther(error, name) ? wrongArguments(name, parameters, args, error) : error
    }
  }
  // It takes and returns the same values as `call`.
  return safe as unknown as F
}

/** The errors of this module, and the functions that they name. */
const named = new WeakMap<object, string>()

/** Whether an error names another function. The program knows the outermost one, so that is the one it reads about. */
const isOfOther = (error: unknown, name: string): boolean => (named.get(Object(error)) ?? name) !== name

const isFromInside = (error: unknown): boolean => error instanceof TypeError || error instanceof RangeError

/**
 * Throws a `ConfigError` that names the function and its arguments if they are not right. Use it in a function that
 * calls a function of the program.
 *
 * @category operations
 * @since 0.2.0
 */
export function assertArguments(
  areRight: boolean,
  name: string,
  parameters: ReadonlyArray<string>,
  values: ReadonlyArray<unknown>
): asserts areRight {
  // oxlint-disable-next-line belay/no-throw -- programs that get a value at once have no Effect to fail with
  if (!areRight) throw wrongArguments(name, parameters, values)
}

const wrongArguments = (
  name: string,
  parameters: ReadonlyArray<string>,
  values: ReadonlyArray<unknown>,
  cause?: unknown
): ConfigError => {
  const found = parameters.map((parameter, at) => `${parameter} is ${show(values[at])}`).join(", ")
  const message = `${name}: it cannot use these values: ${found}`
  const error = Object.assign(new ConfigError({ key: name, message }), cause === undefined ? {} : { cause })
  named.set(error, name)
  return error
}
