/** Headers of an answer. */

/** Header values by lower-case name. */
export type HeaderMap = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** The value of a header. */
export const header = (headers: HeaderMap, name: string): string | undefined => {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined
  return typeof value === "string" ? value : value?.[0]
}

/** The id the vendor gave to the request, whatever it calls it. */
export const requestId = (headers: HeaderMap): string | undefined => {
  for (
    const name of ["x-request-id", "request-id", "x-ms-request-id", "apim-request-id", "x-amzn-requestid", "cf-ray"]
  ) {
    const value = header(headers, name)
    if (value !== undefined && value !== "") return value
  }
  return undefined
}

/**
 * How long the vendor asks to wait: in milliseconds, in seconds, until a date, or in words. More than a year is not
 * meant.
 */
export const retryAfterMs = (headers: HeaderMap, words: string): number | undefined => {
  const wish = wished(headers, words)
  return wish === undefined || !(wish <= yearMs) ? undefined : wish
}

const yearMs = 365 * 24 * 3_600_000

const wished = (headers: HeaderMap, words: string): number | undefined => {
  const milliseconds = Number(header(headers, "retry-after-ms") ?? Number.NaN)
  if (milliseconds > 0 && Number.isFinite(milliseconds)) return milliseconds
  const after = header(headers, "retry-after")
  if (after !== undefined && after.trim() !== "") {
    const seconds = Number(after)
    if (seconds >= 0 && Number.isFinite(seconds)) return seconds * 1000
    const until = Date.parse(after)
    if (!Number.isNaN(until)) return Math.max(0, until - now(headers))
  }
  return inWords(words)
}

/** The vendor's own clock where it tells; the difference to ours does not matter then. */
const now = (headers: HeaderMap): number => {
  const theirs = Date.parse(header(headers, "date") ?? "")
  return Number.isNaN(theirs) ? performance.timeOrigin + performance.now() : theirs
}

const inWords = (words: string): number | undefined => {
  const found =
    /(?:try again|retry|wait)[^.\d]{0,40}?(?:in|after|for)?\s*((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?|h(?:ours?)?)\s*)+)/i
      .exec(words)?.[1]
  if (found === undefined) return undefined
  let sum = 0
  for (const [, amount, unit] of found.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/gi)) {
    sum += Number(amount) * lengthOf(unit ?? "s")
  }
  return sum
}

const lengthOf = (unit: string): number =>
  /^(?:ms|milli)/i.test(unit) ? 1 : /^h/i.test(unit) ? 3_600_000 : /^m/i.test(unit) ? 60_000 : 1000
