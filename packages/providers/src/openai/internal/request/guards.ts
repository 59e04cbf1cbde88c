/** Reads unchecked values. */
import { type Json, whyNot } from "@belay/core/Json"

/** An object with unknown fields. */
export type Loose = { readonly [key: string]: unknown }

export const isObject = (value: unknown): value is Loose =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Returns the value if it is a string that is not empty. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined

/** Returns the value if it is a number from 0. */
export const countOf = (value: unknown): number | undefined =>
  typeof value === "number" && value >= 0 && value < Number.POSITIVE_INFINITY ? value : undefined

/** Parses JSON. Returns nothing if the text is not JSON. */
export const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Writes a value from outside as JSON. Returns nothing if it is nested too deeply. */
export const compact = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? ""
  } catch {
    return ""
  }
}

/** Returns the value as JSON, or nothing if it is nested too deeply for the rest of Belay. */
export const boundedJson = (value: unknown): Json | undefined =>
  // `whyNot` has checked that it is JSON.
  value === undefined || whyNot(value) !== undefined ? undefined : value as Json
