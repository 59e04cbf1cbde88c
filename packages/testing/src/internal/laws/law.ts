/** Helpers for all lists of laws. */
import { AssertionError } from "node:assert"
import { isDeepStrictEqual } from "node:util"

/** One law for any test runner. `run` rejects if it does not hold. */
export interface Law {
  /** A sentence that describes the law. */
  readonly name: string
  readonly run: () => Promise<void>
}

/** Rejects with the reason why a law does not hold. */
export const broken = (message: string): never => {
  throw new AssertionError({ message })
}

/** Checks a condition. */
export const holds = (fact: boolean, message: string): void => fact ? undefined : broken(message)

/** Checks that two values are the same JSON. */
export const same = (found: unknown, expected: unknown, what: string): void => {
  if (isDeepStrictEqual(plain(found), plain(expected))) return
  broken(`${what}: expected ${short(expected)}, found ${short(found)}`)
}

/** Writes a value with at most 300 characters. */
export const short = (value: unknown): string => {
  const text = value instanceof Error ? `${value.name}: ${value.message}` : JSON.stringify(value) ?? String(value)
  return text.length > 300 ? `${text.slice(0, 297)}...` : text
}

/** Converts a value to JSON, without prototypes and `undefined`. */
const plain = (value: unknown): unknown => value === undefined ? undefined : JSON.parse(JSON.stringify(value))
