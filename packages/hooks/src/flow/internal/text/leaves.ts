/** The single values inside of arguments and results. */
import type { Json } from "@belay/core/Json"
import * as Result from "effect/Result"
import { compact } from "./words.ts"

/** A text, a number or a flag, with the names that lead to it. */
export interface Leaf {
  /** The name of the field that holds it; items of a list have the name of the list. */
  readonly key: string
  /** Where it stands, such as `items[2].iban`. */
  readonly place: string
  readonly value: string | number | boolean
  /** The record that it belongs to: the item of a list, or the whole value, with the objects inside of it. */
  readonly record: object | undefined
}

const maxDepth = 32

/** Returns the leaves of a value. A text that is JSON has the leaves of that JSON; names that are values count too. */
export const leavesOf = (value: unknown): ReadonlyArray<Leaf> => {
  const found: Array<Leaf> = []
  collect(found, value, "", "", undefined, 0, true)
  return found
}

const collect = (
  found: Array<Leaf>,
  value: unknown,
  key: string,
  place: string,
  record: object | undefined,
  depth: number,
  isItem: boolean
): void => {
  if (value === null || value === undefined) return
  if (depth > maxDepth) return collectDeep(found, value, key, place, record)
  if (typeof value === "string") {
    const inner = jsonIn(value)
    if (inner !== undefined) collect(found, inner, key, place, record, depth + 1, isItem)
    else found.push({ key, place, value, record })
  } else if (typeof value !== "object") {
    if (typeof value === "number" || typeof value === "boolean") found.push({ key, place, value, record })
  } else if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      collect(found, value[index], key, `${place}[${index}]`, record, depth + 1, true)
    }
  } else {
    const own = isItem || record === undefined ? value : record
    for (const name of Object.keys(value)) {
      const inside = place === "" ? name : `${place}.${name}`
      if (isValue(name)) found.push({ key, place: inside, value: name, record: own })
      // It is an object, so any key may be read.
      collect(found, (value as { readonly [name: string]: unknown })[name], name, inside, own, depth + 1, false)
    }
  }
}

/** Whether a name is a value: an address, a text, or an account number. */
const isValue = (name: string): boolean =>
  // Most names are one word.
  !/^[A-Za-z_]{1,40}$/.test(name) && (/[@/\s]|[a-z]\.[a-z]/i.test(name) || compact(name) !== undefined)

/** What stands deeper has no names and places of its own, and is found without a recursion. */
const collectDeep = (
  found: Array<Leaf>,
  value: unknown,
  key: string,
  place: string,
  record: object | undefined
): void => {
  const left = [value]
  while (left.length > 0) {
    const next = left.pop()
    if (typeof next === "string" || typeof next === "number" || typeof next === "boolean") {
      found.push({ key, place, value: next, record })
    } else if (typeof next === "object" && next !== null) {
      for (const [name, item] of Object.entries(next)) {
        if (!Array.isArray(next) && isValue(name)) left.push(name)
        left.push(item)
      }
    }
  }
}

/** Returns the object or list that a text is, if it is JSON. */
const jsonIn = (text: string): object | undefined => {
  if (!/^\s*[[{]/.test(text) || text.length > 1_000_000) return undefined
  const parsed = Result.try(() => JSON.parse(text) as Json)
  return Result.isSuccess(parsed) && typeof parsed.success === "object" && parsed.success !== null
    ? parsed.success
    : undefined
}
