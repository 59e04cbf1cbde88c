/** Values of other SDKs as JSON. */
import { canonical, type Json } from "@belay/core/Json"
import * as Result from "effect/Result"

/** Returns a value as JSON. What is not JSON becomes what `JSON.stringify` makes of it, and a `bigint` its digits. */
export const jsonOf = (value: unknown): Json => {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value
  const read = Result.try(() => JSON.stringify(value))
  // Most values have no `bigint`, and a function for each part takes time.
  const text = Result.isSuccess(read) ? read.success : JSON.stringify(value, digits)
  return text === undefined ? null : JSON.parse(text) as Json
}

const digits = (_key: string, value: unknown): unknown => typeof value === "bigint" ? String(value) : value

/** Whether two values are the same JSON. Values that no hook has changed are often the same object. */
export const sameJson = (one: Json, other: Json): boolean => one === other || canonical(one) === canonical(other)
