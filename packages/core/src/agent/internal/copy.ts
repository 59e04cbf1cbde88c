/** Copies of JSON: what one side does to its copy, the other does not see. */
import { isPlain } from "../../data/Json.ts"

/** Copies a value and everything below it. */
export const copy = <A>(value: A): A => walk(value, false) as A

/** Copies and freezes a value and everything below it; what is frozen already is shared. */
export const frozenCopy = <A>(value: A): A => walk(value, true) as A

const walk = (value: unknown, frozen: boolean): unknown => {
  if (typeof value !== "object" || value === null || !isPlain(value) || (frozen && Object.isFrozen(value))) return value
  const made = Array.isArray(value)
    ? value.map((item) => walk(item, frozen))
    : Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, walk(inner, frozen)]))
  return frozen ? Object.freeze(made) : made
}
