/** What somebody else wrote, as an object whose values are unknown. */
import * as Result from "effect/Result"

export type Fields = { readonly [key: string]: unknown }

export const isRecord = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value)

/** The object that a text is as JSON; nothing where it is none. */
export const parse = (text: string): Fields | undefined => {
  const value = Result.getOrUndefined(Result.try((): unknown => JSON.parse(text.replace(/^\uFEFF/, ""))))
  return isRecord(value) ? value : undefined
}
