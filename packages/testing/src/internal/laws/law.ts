/** What every list of laws is made of. */
import { AssertionError } from "node:assert"
import { isDeepStrictEqual } from "node:util"

/** One law, for any test runner: `run` rejects when it does not hold. */
export interface Law {
  /** A sentence. */
  readonly name: string
  readonly run: () => Promise<void>
}

/** Breaks the law, and says how. */
export const broken = (message: string): never => {
  throw new AssertionError({ message })
}

/** Holds, or breaks the law. */
export const holds = (fact: boolean, message: string): void => fact ? undefined : broken(message)

/** Both are the same JSON, or the law is broken. */
export const same = (found: unknown, expected: unknown, what: string): void => {
  if (isDeepStrictEqual(plain(found), plain(expected))) return
  broken(`${what}: expected ${short(expected)}, found ${short(found)}`)
}

/** A value in at most 300 characters. */
export const short = (value: unknown): string => {
  const text = value instanceof Error ? `${value.name}: ${value.message}` : JSON.stringify(value) ?? String(value)
  return text.length > 300 ? `${text.slice(0, 297)}...` : text
}

/** As JSON has it: prototypes and `undefined` do not count. */
const plain = (value: unknown): unknown => value === undefined ? undefined : JSON.parse(JSON.stringify(value))
