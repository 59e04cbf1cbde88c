/** The single values inside of arguments and results. */
import type { Json } from "@belay/core/Json"
import * as Result from "effect/Result"

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

/** Yields the leaves of a value. A text that is JSON has the leaves of that JSON; names that are values count too. */
export function* leavesOf(
  value: unknown,
  key = "",
  place = key,
  record?: object,
  depth = 0,
  isItem = true
): Generator<Leaf> {
  if (value === null || value === undefined || depth > maxDepth) return
  if (typeof value === "string") {
    const inner = jsonIn(value)
    if (inner !== undefined) yield* leavesOf(inner, key, place, record, depth + 1, isItem)
    else yield { key, place, value, record }
  } else if (typeof value !== "object") {
    if (typeof value === "number" || typeof value === "boolean") yield { key, place, value, record }
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      yield* leavesOf(item, key, `${place}[${index}]`, record, depth + 1, true)
    }
  } else {
    const own = isItem || record === undefined ? value : record
    for (const [name, item] of Object.entries(value)) {
      const inside = place === "" ? name : `${place}.${name}`
      if (/[@/\s]|[a-z]\.[a-z]/i.test(name)) yield { key, place: inside, value: name, record: own }
      yield* leavesOf(item, name, inside, own, depth + 1, false)
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
