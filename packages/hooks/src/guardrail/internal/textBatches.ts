/** The texts of a JSON value in batches, because it takes long to search a million texts one by one. */
import type { Json } from "@belay/core/Json"

/** Texts that are searched together. */
export interface TextBatch {
  /** The texts, separated by line separators, which no value contains. */
  readonly joined: string
  readonly texts: ReadonlyArray<string>
}

const batchLength = 65_536

/** The texts, the keys, and the numbers of at least `minDigits` characters in a JSON value. */
export const textBatches = (value: Json, minDigits: number): ReadonlyArray<TextBatch> => {
  const batches: Array<TextBatch> = []
  let texts: Array<string> = []
  let length = 0
  const close = (): void => {
    if (texts.length > 0) batches.push({ joined: texts.join("\u2028"), texts })
    texts = []
    length = 0
  }
  const add = (text: string): void => {
    if (text === "") return
    texts.push(text)
    length += text.length
    if (length >= batchLength) close()
  }
  const visit = (item: Json): void => {
    if (typeof item === "string") add(item)
    else if (typeof item === "number") {
      const text = String(item)
      if (text.length >= minDigits) add(text)
    } else if (Array.isArray(item)) { for (const one of item as ReadonlyArray<Json>) visit(one) }
    else if (typeof item === "object" && item !== null) {
      for (const [key, one] of Object.entries(item)) {
        add(key)
        visit(one)
      }
    }
  }
  visit(value)
  close()
  return batches
}

/**
 * Returns the number of characters in the texts, the keys, and the numbers of at least `minDigits` characters in a JSON
 * value, or -1 if the pattern matches one of them.
 */
export const lengthWithout = (pattern: RegExp, value: Json, minDigits: number): number => {
  if (typeof value === "string") return pattern.test(value) ? -1 : value.length
  if (typeof value === "number") {
    const text = String(value)
    return text.length >= minDigits && pattern.test(text) ? -1 : text.length
  }
  if (typeof value !== "object" || value === null) return 0
  let sum = 0
  const isList = Array.isArray(value)
  for (const key of Object.keys(value)) {
    if (!isList && pattern.test(key)) return -1
    // It is an object or a list, so any of its keys may be read.
    const length = lengthWithout(pattern, (value as { readonly [key: string]: Json })[key]!, minDigits)
    if (length < 0) return -1
    sum += length + key.length
  }
  return sum
}
