/** Changes arguments that an SDK has passed as an object. */
import type { Json } from "@belay/core/Json"
import { jsonOf, sameJson } from "./json.ts"

/** Changes arguments in place, for an SDK that runs the tool with the object that it has made. */
export const writeArgs = (target: unknown, now: Json): void => {
  if (sameJson(jsonOf(target ?? {}), now)) return
  if (!isObject(target) || !isObject(now)) throw new Error("a hook changed arguments that are not an object")
  for (const key of Object.keys(target)) delete target[key]
  // An assignment of `__proto__` would set the prototype.
  const property = { configurable: true, enumerable: true, writable: true }
  for (const [key, value] of Object.entries(now)) Object.defineProperty(target, key, { ...property, value })
}

const isObject = (value: unknown): value is { [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)
