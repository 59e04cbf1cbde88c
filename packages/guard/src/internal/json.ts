/** Values of other SDKs as JSON. */
import type { Json } from "@belay/core/Json"

/** Returns a value as JSON. What is not JSON becomes what `JSON.stringify` makes of it. */
export const jsonOf = (value: unknown): Json => {
  const text = JSON.stringify(value)
  return text === undefined ? null : JSON.parse(text) as Json
}
