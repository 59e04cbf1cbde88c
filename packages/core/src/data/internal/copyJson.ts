/** Copies of JSON values: changes of a copy do not reach the original. */
import { isPlain } from "../Json.ts"

/** Copies a value and everything in it. */
export const copy = <A>(value: A): A => walk(value, false) as A

/** Copies and freezes a value and everything in it. Parts that are already frozen are shared. */
export const frozenCopy = <A>(value: A): A => walk(value, true) as A

const walk = (value: unknown, frozen: boolean): unknown => {
  if (typeof value !== "object" || value === null || (frozen && Object.isFrozen(value)) || !isPlain(value)) return value
  const made = Array.isArray(value)
    ? value.map((item) => walk(item, frozen))
    // It is a plain object, so any key may be read.
    : entries(value as Record<string, unknown>, frozen)
  return frozen ? Object.freeze(made) : made
}

const entries = (value: Record<string, unknown>, frozen: boolean): Record<string, unknown> => {
  const made: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const inner = walk(value[key], frozen)
    // An assignment to this name would set the prototype.
    if (key === "__proto__") {
      Object.defineProperty(made, key, { value: inner, enumerable: true, writable: true, configurable: true })
    } else made[key] = inner
  }
  return made
}
