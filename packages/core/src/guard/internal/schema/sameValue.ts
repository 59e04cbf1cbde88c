/** Compares decoded values, which can be anything that a schema makes. */

/**
 * Whether two decoded values are the same. Values in which nothing can be compared, such as functions and promises,
 * count as the same if they are of the same kind.
 */
export const sameValue = (a: unknown, b: unknown, depth = 0): boolean => {
  if (Object.is(a, b) || depth > 64) return true
  if (typeof a === "function" && typeof b === "function") return true
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false
  const [one, two] = [partsOf(a), partsOf(b)]
  return one.length === two.length && one.every(([key, value], index) => {
    const [otherKey, other] = two[index]!
    return sameValue(key, otherKey, depth + 1) && sameValue(value, other, depth + 1)
  })
}

type Parts = ReadonlyArray<readonly [key: unknown, value: unknown]>

const partsOf = (value: object): Parts => {
  if (value instanceof Date) return [["time", value.getTime()]]
  if (value instanceof Map) return [...value.entries()]
  if (value instanceof Set) return [...value].map((item, index) => [index, item] as const)
  if (value instanceof RegExp || value instanceof URL) return [["text", String(value)]]
  // It is an object, so any key may be read.
  return Object.keys(value).sort().map((key) => [key, (value as Record<string, unknown>)[key]])
}

/** Whether two JSON values are the same. */
export const sameJson = (a: unknown, b: unknown): boolean => {
  if (a === b) return true
  if (
    typeof a !== "object" || typeof b !== "object" || a === null || b === null || Array.isArray(a) !== Array.isArray(b)
  ) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  for (const key of keys) {
    // Both are objects, as was checked above.
    if (!Object.hasOwn(b, key) || !sameJson((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key])) {
      return false
    }
  }
  return true
}
