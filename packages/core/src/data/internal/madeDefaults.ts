/**
 * Defaults that a function makes, such as an id or the time. They are different each time that the JSON Schema is
 * written, so they do not say what a tool is.
 */
import * as Result from "effect/Result"
import { canonical, type Json, type JsonObject } from "../Json.ts"

type Write = () => JsonObject | undefined

/** How to write a JSON Schema again. */
const writers = new WeakMap<JsonObject, Write>()

/** Says how to write this JSON Schema again. */
export const canWriteAgain = (schema: JsonObject, write: Write): void => void writers.set(schema, write)

/** Returns the JSON Schema without the defaults that are different when it is written now. */
export const withoutMadeDefaults = (schema: JsonObject): JsonObject => {
  const write = writers.get(schema)
  const now = write === undefined ? undefined : Result.getOrElse(Result.try(write), () => undefined)
  // The JSON Schema is an object, so the result is one.
  return now === undefined ? schema : without(schema, now) as JsonObject
}

const without = (one: Json, two: Json | undefined): Json => {
  if (typeof one !== "object" || one === null || typeof two !== "object" || two === null) return one
  // Only the parts that both have are compared, so any key may be read.
  const other = two as { readonly [key: string]: Json }
  if (Array.isArray(one)) return one.map((item: Json, index) => without(item, other[index]))
  return Object.fromEntries(
    Object.entries(one)
      .filter(([key, value]) => key !== "default" || isSame(value, other[key]))
      .map(([key, value]) => [key, key === "default" ? value : without(value as Json, other[key])])
  )
}

const isSame = (one: Json, two: Json | undefined): boolean => two !== undefined && canonical(one) === canonical(two)
