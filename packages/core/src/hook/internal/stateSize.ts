/**
 * Sizes of the values of a state, in characters of JSON text, without counting escapes exactly. A value that replaces
 * another one usually shares most of its parts with it, so only the parts that differ are measured.
 */
import { isPlain } from "../../data/Json.ts"

/** Nesting of a value, at most. */
const maxDepth = 64

/**
 * Returns how much larger a value is than the one that it replaces, or nothing if it is not JSON. All of `before` is
 * frozen JSON. Afterwards, all of the new value is frozen too.
 */
export const growth = (before: unknown, value: object): number | undefined => {
  const found: Array<object> = []
  const more = difference(before, value, found, 0)
  // Nothing is frozen before all of the value is known to be JSON.
  if (more !== undefined) { for (const one of found) Object.freeze(one) }
  return more
}

/** Returns how much larger the second value is. Collects its objects that are not part of the first one. */
const difference = (before: unknown, after: unknown, found: Array<object>, depth: number): number | undefined => {
  if (before === after) return 0
  if (isObject(before) && isObject(after) && depth < maxDepth && Array.isArray(before) === Array.isArray(after)) {
    if (!isPlain(after)) return undefined
    found.push(after)
    return Array.isArray(before)
      ? ofLists(before, after as ReadonlyArray<unknown>, found, depth + 1)
      // They are objects, so any key may be read.
      : ofObjects(before as Fields, after as Fields, found, depth + 1)
  }
  const size = sizeOf(after, found, depth)
  return size === undefined ? undefined : size - knownSize(before, depth)
}

type Fields = { readonly [key: string]: unknown }

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

const ofObjects = (before: Fields, after: Fields, found: Array<object>, depth: number): number | undefined => {
  const names = Object.keys(before)
  let sum = 0
  let shared = 0
  let index = 0
  for (const name of Object.keys(after)) {
    const child = after[name]
    const known = names[index++] === name || Object.hasOwn(before, name) ? before[name] : undefined
    if (known !== undefined) shared++
    if (child === known) continue
    if (child === undefined) {
      if (known !== undefined) sum -= knownSize(known, depth) + fieldSize(name)
      continue
    }
    const more = known === undefined ? sizeOf(child, found, depth) : difference(known, child, found, depth)
    if (more === undefined) return undefined
    sum += known === undefined ? more + fieldSize(name) : more
  }
  if (shared === names.length) return sum
  for (const name of names) {
    if (before[name] !== undefined && !Object.hasOwn(after, name)) {
      sum -= knownSize(before[name], depth) + fieldSize(name)
    }
  }
  return sum
}

/** A list usually gets more items at its end, and loses some at its beginning. */
const ofLists = (
  before: ReadonlyArray<unknown>,
  after: ReadonlyArray<unknown>,
  found: Array<object>,
  depth: number
): number | undefined => {
  let sum = 0
  let at = 0
  const lost = indexOf(before, after[0])
  while (at < lost) sum -= knownSize(before[at++], depth) + 1
  for (let index = 0; index < after.length; index++) {
    const item = after[index]
    if (at < before.length && before[at] !== item && before[at + 1] === item) sum -= knownSize(before[at++], depth) + 1
    const more = isHole(after, index)
      ? at < before.length ? -knownSize(before[at++], depth) : 1
      : at < before.length
      ? difference(before[at++], item, found, depth)
      : added(item, found, depth)
    if (more === undefined) return undefined
    sum += more
  }
  while (at < before.length) sum -= knownSize(before[at++], depth) + 1
  return sum
}

/** `indexOf` is slow for frozen lists. Items that are equal, such as numbers, say nothing about what was lost. */
const indexOf = (list: ReadonlyArray<unknown>, item: unknown): number => {
  if (!isObject(item)) return -1
  for (let index = 0; index < list.length; index++) if (list[index] === item) return index
  return -1
}

const added = (item: unknown, found: Array<object>, depth: number): number | undefined => {
  const size = sizeOf(item, found, depth)
  return size === undefined ? undefined : size + 1
}

/** The size of a value that is known to be JSON. */
const knownSize = (value: unknown, depth: number): number => sizeOf(value, [], depth) ?? 0

/** Returns the size of a value, or nothing if it is not JSON. Collects its objects. */
const sizeOf = (value: unknown, found: Array<object>, depth: number): number | undefined => {
  if (typeof value === "string") return value.length + 2
  if (typeof value === "number") return Number.isFinite(value) ? numberSize(value) : undefined
  if (typeof value === "boolean" || value === null) return 5
  if (typeof value !== "object" || depth >= maxDepth || !isPlain(value)) return undefined
  found.push(value)
  let sum = 2
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const size = isHole(value, index) ? 0 : sizeOf(value[index], found, depth + 1)
      if (size === undefined) return undefined
      sum += size + 1
    }
    return sum
  }
  for (const name of Object.keys(value)) {
    const child = (value as Fields)[name]
    if (child === undefined) continue
    const size = sizeOf(child, found, depth + 1)
    if (size === undefined) return undefined
    sum += size + fieldSize(name)
  }
  return sum
}

/** Whether a list has no item at an index. Its JSON text has `null` there; only the comma is counted. */
const isHole = (list: ReadonlyArray<unknown>, index: number): boolean => list[index] === undefined && !(index in list)

/** The name with its quotes, a colon and a comma. */
const fieldSize = (name: string): number => name.length + 4

/** Small whole numbers, which are the most frequent, are not rendered. */
const numberSize = (value: number): number =>
  Number.isInteger(value) && value >= 0 && value < 1_000 ? (value < 10 ? 1 : value < 100 ? 2 : 3) : String(value).length
