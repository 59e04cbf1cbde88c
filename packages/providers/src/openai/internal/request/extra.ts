/** Joins the fields that Belay sets with extra fields of the user, so that neither removes the other. */
import type { Json, JsonObject } from "@belay/core/Json"
import * as Result from "effect/Result"
import { compact, isObject, type Loose } from "./guards.ts"

/** Fields that only Belay can set. */
const reserved: ReadonlySet<string> = new Set(["model", "messages", "input", "stream"])

/** The reason why a request cannot be sent. */
export interface Conflict {
  readonly param: string
  readonly message: string
}

/**
 * Joins objects field by field and lists item by item. Fails if both sides have another value for the same field.
 * Fields of `defaults` are used where neither side has one.
 */
export const joinFields = (
  fields: Loose,
  extra: JsonObject | undefined,
  defaults?: JsonObject
): Result.Result<Loose, Conflict> => {
  const own = reservedIn("extra", extra) ?? reservedIn("compat.extraBody", defaults)
  if (own !== undefined) return Result.fail(own)
  const base = defaults === undefined ? fields : withDefaults(fields, defaults)
  return extra === undefined ? Result.succeed(base) : join(base, extra, "extra")
}

const reservedIn = (place: string, given: JsonObject | undefined): Conflict | undefined => {
  const key = given === undefined ? undefined : Object.keys(given).find((one) => reserved.has(one))
  if (key === undefined) return undefined
  const instead = key === "model" ? "; use the option `model` of the provider or of the request" : ""
  return { param: `${place}.${key}`, message: `${place}.${key} is a field that only Belay sets; remove it${instead}` }
}

const withDefaults = (fields: Loose, defaults: Loose): Loose => {
  const joined: Record<string, unknown> = { ...defaults, ...fields }
  for (const [key, value] of Object.entries(defaults)) {
    const own = fields[key]
    if (isObject(own) && isObject(value)) joined[key] = withDefaults(own, value)
  }
  return joined
}

const join = (fields: Loose, extra: Loose, path: string): Result.Result<Loose, Conflict> => {
  const joined = new Map(Object.entries(fields))
  for (const [key, value] of Object.entries(extra)) {
    const own = joined.get(key)
    const place = `${path}.${key}`
    if (own === undefined) joined.set(key, value)
    else if (Array.isArray(own) && Array.isArray(value)) {
      joined.set(key, [...new Set([...own, ...value as Array<Json>])])
    } else if (isObject(own) && isObject(value)) {
      const inner = join(own, value, place)
      if (Result.isFailure(inner)) return inner
      joined.set(key, inner.success)
    } else if (compact(own) !== compact(value)) {
      const message = `${place} is ${compact(value).slice(0, 60)}, but the request sets it to ${
        compact(own).slice(0, 60)
      }; remove one of them`
      return Result.fail({ param: place, message })
    }
  }
  return Result.succeed(Object.fromEntries(joined))
}
