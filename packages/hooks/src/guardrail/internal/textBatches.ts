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
