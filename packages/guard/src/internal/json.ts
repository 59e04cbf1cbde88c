/** Values of other SDKs as JSON. */
import { canonical, type Json } from "@belay/core/Json"

/** Returns a value as JSON. What is not JSON becomes what `JSON.stringify` makes of it. */
export const jsonOf = (value: unknown): Json => {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value
  const text = JSON.stringify(value)
  return text === undefined ? null : JSON.parse(text) as Json
}

/** Whether two values are the same JSON. Values that no hook has changed are often the same object. */
export const sameJson = (one: Json, other: Json): boolean => one === other || canonical(one) === canonical(other)
