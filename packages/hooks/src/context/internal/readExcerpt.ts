/** Reads limited excerpts of a long text, and searches it. */
import type { JsonObject } from "@belay/core/Json"
import { boundary } from "./excerpt.ts"

/** What to read, in UTF-16 code units. It comes from a model, so any value is possible. */
export interface ExcerptRequest {
  readonly offset?: number
  readonly length?: number
  readonly search?: string
}

/** How many characters are returned on both sides of a match. */
const around = 100

/** Returns an excerpt of at most `max` characters, or the matches of a search. */
export const readExcerpt = (
  text: string,
  { length, offset = 0, search = "" }: ExcerptRequest,
  max: number
): JsonObject => {
  const from = boundary(text, Math.trunc(offset))
  if (search !== "") return searchText(text, search, from, max)
  const size = Math.max(1, Math.min(Math.trunc(length ?? max / 2), max))
  const end = boundary(text, from + size)
  const to = end > from ? end : Math.min(text.length, from + 2)
  const excerpt = { total: text.length, offset: from, text: text.slice(from, to) }
  return to < text.length ? { ...excerpt, next: to } : excerpt
}

const searchText = (text: string, search: string, from: number, max: number): JsonObject => {
  const lower = text.toLowerCase()
  // If lower case changes the length of the text, its offsets are wrong, so the search does not ignore case then.
  const [haystack, needle] = lower.length === text.length ? [lower, search.toLowerCase()] : [text, search]
  const matches: Array<JsonObject> = []
  let left = max
  let at = haystack.indexOf(needle, from)
  while (at >= 0) {
    const end = Math.min(at + needle.length, at + max)
    const excerpt = text.slice(boundary(text, at - around), boundary(text, end + around))
    left -= excerpt.length
    if (left < 0 && matches.length > 0) return { total: text.length, matches, next: at }
    matches.push({ offset: at, text: excerpt })
    at = haystack.indexOf(needle, at + needle.length)
  }
  return { total: text.length, matches }
}
