/** Reads the fields of untrusted JSON one by one. An invalid field is reported and does not affect the other fields. */
import { type Json, type JsonObject, whyNot } from "@belay/core/Json"
import * as Result from "effect/Result"
import { stripComments } from "jsonc-parser"

export type Fields = { readonly [key: string]: unknown }

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Returns a JSON object, or an empty one in place of any other JSON. */
export const objectOf = (value: unknown): JsonObject =>
  // A JSON value that is an object but not an array is a JsonObject.
  isFields(value) ? value as JsonObject : {}

/** Parses JSON and drops `__proto__` keys. Returns undefined if the text is not JSON. */
export const parse = (text: string): unknown =>
  Result.getOrUndefined(
    Result.try((): unknown =>
      mayHavePrototype.test(text)
        ? JSON.parse(text, (key, value: unknown) => key === "__proto__" ? undefined : value)
        : JSON.parse(text)
    )
  )

/** A key `__proto__`, also with an escaped `_`. Looking at every key of a large file takes long. */
const mayHavePrototype = /__proto__|\\u005f/i

/** Parses JSON with comments, in the same way as `parse`. */
export const parseCommented = (text: string): unknown => parse(stripComments(text.replace(/^\uFEFF/, "")))

/** Parses a JSON object and keeps all of its keys. Returns undefined if the text is not a JSON object. */
export const record = (text: string): Fields | undefined => {
  const value = Result.getOrUndefined(Result.try((): unknown => JSON.parse(text.replace(/^\uFEFF/, ""))))
  return isFields(value) ? value : undefined
}

/** The maximum number of characters of a reason or a message. */
export const maxText = 10_000

export const cap = (text: string): string => text.length > maxText ? text.slice(0, maxText).toWellFormed() : text

/** Reads fields and collects a problem for each invalid field. */
export interface Reader {
  readonly text: (of: Fields, key: string) => string | undefined
  readonly flag: (of: Fields, key: string) => boolean | undefined
  readonly fields: (of: Fields, key: string) => Fields | undefined
  readonly object: (of: Fields, key: string) => JsonObject | undefined
  readonly json: (of: Fields, key: string) => Json | undefined
  readonly texts: (of: Fields, key: string) => ReadonlyArray<string> | undefined
  readonly oneOf: <const A extends string>(of: Fields, key: string, ...choices: ReadonlyArray<A>) => A | undefined
  readonly problems: Array<string>
}

export const reader = (): Reader => {
  const problems: Array<string> = []
  const read = <A>(of: Fields, key: string, fits: (value: unknown) => value is A, expected: string): A | undefined => {
    const value = Object.hasOwn(of, key) ? of[key] : undefined
    if (value === undefined || value === null) return undefined
    if (fits(value)) return value
    problems.push(`${key} does not count: expected ${expected}`)
    return undefined
  }
  return {
    text: (of, key) => read(of, key, isText, "a text"),
    flag: (of, key) => read(of, key, isFlag, "true or false"),
    fields: (of, key) => read(of, key, isFields, "an object"),
    object: (of, key) => read(of, key, isObject, "an object"),
    json: (of, key) => read(of, key, isJson, "JSON"),
    texts: (of, key) => read(of, key, isTexts, "a list of texts"),
    oneOf: (of, key, ...choices) =>
      read(of, key, (value): value is never => choices.includes(value as never), choices.join(" or ")),
    problems
  }
}

export const isText = (value: unknown): value is string => typeof value === "string"
const isFlag = (value: unknown): value is boolean => typeof value === "boolean"
const isObject = (value: unknown): value is JsonObject => isFields(value) && whyNot(value) === undefined
const isJson = (value: unknown): value is Json => whyNot(value) === undefined
const isTexts = (value: unknown): value is ReadonlyArray<string> => Array.isArray(value) && value.every(isText)

/** Returns the reason of a denial that a script put only into a message for the user. */
export const someMessage = ({ stopReason, systemMessage }: Fields): string | undefined =>
  [stopReason, systemMessage].find((text): text is string => typeof text === "string" && text.trim() !== "")
