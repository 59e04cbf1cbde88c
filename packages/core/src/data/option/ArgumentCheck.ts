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
export const checked = <A extends ReadonlyArray<unknown>, B>(
  name: string,
  parameters: { readonly [K in keyof A]: string },
  call: (...args: A) => B
): (...args: A) => B => {
  return (...args) => {
    try {
      return call(...args)
    } catch (error) {
      throw isFromInside(error) ? wrongArguments(name, parameters, args) : error
    }
  }
}

const isFromInside = (error: unknown): boolean => error instanceof TypeError || error instanceof RangeError

/** The error of a function that cannot read its arguments. @category constructors @since 0.2.0 */
export const wrongArguments = (
  name: string,
  parameters: ReadonlyArray<string>,
  values: ReadonlyArray<unknown>
): ConfigError => {
  const found = parameters.map((parameter, at) => `${parameter} is ${show(values[at])}`).join(", ")
  return new ConfigError({ key: name, message: `${name}: expected other values, found that ${found}; see its types` })
}
