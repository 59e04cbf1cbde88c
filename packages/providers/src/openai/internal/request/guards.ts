/** Reading values nobody has checked. */
import { type Json, whyNot } from "@belay/core/Json"

/** An object of which nothing is known. */
export type Loose = { readonly [key: string]: unknown }

export const isObject = (value: unknown): value is Loose =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The text, unless there is none. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined

/** The number, if it counts something. */
export const countOf = (value: unknown): number | undefined =>
  typeof value === "number" && value >= 0 && value < Number.POSITIVE_INFINITY ? value : undefined

/** JSON, or nothing. */
export const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** JSON text of a value from outside; what is nested too deeply for the writer has none. */
export const compact = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? ""
  } catch {
    return ""
  }
}

/** The value as JSON that the rest of Belay can walk, or nothing when it is nested too deeply. */
export const bounded = (value: unknown): Json | undefined =>
  value === undefined || whyNot(value) !== undefined ? undefined : value as Json
