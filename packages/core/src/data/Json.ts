/**
 * JSON values: their types, their canonical text, a short digest of it, and checks of untyped values.
 *
 * @since 0.1.0
 */

import { lookalikes } from "./internal/lookalikes.ts"

/** Any JSON value. @category models @since 0.1.0 */
export type Json = string | number | boolean | null | ReadonlyArray<Json> | { readonly [key: string]: Json }

/** A JSON object. @category models @since 0.1.0 */
export type JsonObject = { readonly [key: string]: Json }

/**
 * Renders a value as JSON with sorted keys (in the order of RFC 8785), so that equal values have equal text. Never
 * throws: values that JSON cannot represent (`undefined`, functions, cycles, bigint) are rendered as markers.
 *
 * @category rendering
 * @since 0.1.0
 */
export const canonical = (value: unknown): string => render(value, [])

/** `parents` are the objects around the value. The list is the same during a rendering. */
const render = (value: unknown, parents: Array<object>): string => {
  if (typeof value === "bigint") return `"${value}n"`
  if (typeof value === "function" || typeof value === "symbol") return `"[${typeof value}]"`
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  if (parents.includes(value) || parents.length > 512) return `"[cycle]"`
  parents.push(value)
  const text = Array.isArray(value)
    ? renderList(value, parents)
    : renderObject(value as Record<string, unknown>, parents)
  parents.pop()
  return text
}

const renderList = (list: ReadonlyArray<unknown>, parents: Array<object>): string => {
  let text = ""
  for (let index = 0; index < list.length; index++) text += (index === 0 ? "" : ",") + render(list[index], parents)
  return `[${text}]`
}

const renderObject = (record: Record<string, unknown>, parents: Array<object>): string => {
  let text = ""
  for (const key of sortedKeys(record)) {
    const value = record[key]
    if (value === undefined) continue
    text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${render(value, parents)}`
  }
  return `{${text}}`
}

/** The keys of most objects are short lists, of which many are sorted. */
const sortedKeys = (record: Record<string, unknown>): ReadonlyArray<string> => {
  const keys = Object.keys(record)
  for (let index = 1; index < keys.length; index++) if (keys[index - 1]! > keys[index]!) return keys.sort()
  return keys
}

/**
 * Returns a hexadecimal digest of the canonical text, 14 digits long. Use it to compare values in records. It is not a
 * signature.
 *
 * @category rendering
 * @since 0.1.0
 */
export const digest = (value: unknown): string => {
  const isRemembered = typeof value === "string" && value.length >= minRemembered && value.length <= maxRemembered
  if (!isRemembered) return digestOf(canonical(value))
  if (value !== last.text) last = { text: value, digest: digestOf(canonical(value)) }
  return last.digest
}

/** The last long text: several hooks ask for the digest of the result of a tool. */
let last = { text: "", digest: "" }
const minRemembered = 256
const maxRemembered = 100_000

const digestOf = (text: string): string => {
  let a = 0xdeadbeef
  let b = 0x41c6ce57
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    a = Math.imul(a ^ code, 2654435761)
    b = Math.imul(b ^ code, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return bytes[b >>> 16 & 0x1f]! + bytes[b >>> 8 & 0xff] + bytes[b & 0xff] +
    bytes[a >>> 24] + bytes[a >>> 16 & 0xff] + bytes[a >>> 8 & 0xff] + bytes[a & 0xff]
}

/** The hexadecimal digits of every byte. */
const bytes = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

/** Freezes a value and everything in it. Objects that are already frozen are skipped. @category guards @since 0.1.0 */
export const freeze = <A>(value: A): A => {
  if (!isLoose(value)) return value
  // A list instead of recursion, because a model may write JSON that is deeper than the stack.
  const found: Array<object> = [Object.freeze(value)]
  for (const one of found) {
    for (const key of Object.keys(one)) {
      const child = (one as Record<string, unknown>)[key]
      if (isLoose(child)) found.push(Object.freeze(child))
    }
  }
  return value
}

const isLoose = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Object.isFrozen(value) && isPlain(value)

/**
 * Returns whether a value is an array or a plain object. Only these are frozen, cloned and sent.
 *
 * @category guards
 * @since 0.1.0
 */
export const isPlain = (value: object): boolean => {
  if (typeof value !== "object" || value === null) return false
  if (Array.isArray(value)) return true
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null || lookalikes.has(prototype)
}

/**
 * Describes why a value is not JSON, with the path to the wrong part. Returns nothing if the value is JSON. A value
 * that is nested deeper than 64 levels is refused.
 *
 * @category guards
 * @since 0.1.0
 */
export const whyNot = (value: unknown, path = "$", depth = 0): string | undefined =>
  isJson(value, depth) ? undefined : culprit(value, typeof path === "string" ? path : "$", depth)

/** Most values are JSON, so nothing is built for them. */
const isJson = (value: unknown, depth: number): boolean => {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true
  if (typeof value === "number") return Number.isFinite(value)
  if (typeof value !== "object" || depth >= 64 || !isPlain(value)) return false
  const isArray = Array.isArray(value)
  // It is an object, so any key may be read.
  for (const key of Object.keys(value)) {
    const child = (value as Record<string, unknown>)[key]
    if (!isJson(child, depth + 1) && (child !== undefined || isArray)) return false
  }
  return true
}

const culprit = (value: unknown, path: string, depth: number): string | undefined => {
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined
  if (typeof value === "number") return Number.isFinite(value) ? undefined : `${path} is ${value}`
  if (typeof value !== "object") return `${path} is ${value === undefined ? "undefined" : `a ${typeof value}`}`
  if (depth >= 64) return `${path} is nested deeper than 64 levels`
  if (!isPlain(value)) return `${path} is a ${value.constructor?.name ?? "class instance"}`
  // It is an object, so any key may be read.
  for (const key of Object.keys(value)) {
    const child = (value as Record<string, unknown>)[key]
    if (child === undefined && !Array.isArray(value)) continue
    const why = culprit(child, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`, depth + 1)
    if (why !== undefined) return why
  }
  return undefined
}
