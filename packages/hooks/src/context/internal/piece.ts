/** Reading a long text in bounded pieces, and finding places in it. */
import type { JsonObject } from "@belay/core/Json"
import { boundary } from "./excerpt.ts"

/** What to read, in UTF-16 code units; from a model, so nothing of it need make sense. */
export interface Wanted {
  readonly offset?: number
  readonly length?: number
  readonly search?: string
}

/** Around a place that was found. */
const around = 100

/** A piece of at most `maxLength` characters, or the places where a text is found. */
export const read = (text: string, { length, offset = 0, search = "" }: Wanted, max: number): JsonObject => {
  const from = boundary(text, Math.trunc(offset))
  if (search !== "") return found(text, search, from, max)
  const wanted = Math.max(1, Math.min(Math.trunc(length ?? max / 2), max))
  const near = boundary(text, from + wanted)
  const to = near > from ? near : Math.min(text.length, from + 2)
  return { total: text.length, offset: from, text: text.slice(from, to), ...(to < text.length ? { next: to } : {}) }
}

const found = (text: string, search: string, from: number, max: number): JsonObject => {
  const lower = text.toLowerCase()
  // Where changing the case changes lengths, places would not be the same.
  const [hay, needle] = lower.length === text.length ? [lower, search.toLowerCase()] : [text, search]
  const matches: Array<JsonObject> = []
  let left = max
  let at = hay.indexOf(needle, from)
  while (at >= 0) {
    const end = Math.min(at + needle.length, at + max)
    const excerpt = text.slice(boundary(text, at - around), boundary(text, end + around))
    left -= excerpt.length
    if (left < 0 && matches.length > 0) return { total: text.length, matches, next: at }
    matches.push({ offset: at, text: excerpt })
    at = hay.indexOf(needle, at + needle.length)
  }
  return { total: text.length, matches }
}
