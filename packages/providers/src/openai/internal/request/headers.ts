/** Reads the headers of an answer. */

/** Header values by lower-case name. */
export type HeaderMap = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** The value of a header. */
export const header = (headers: HeaderMap, name: string): string | undefined => {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined
  return typeof value === "string" ? value : value?.[0]
}

/** Returns the id that the vendor gave to the request. Vendors use different headers for it. */
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
 * Returns how long the vendor asks to wait, in milliseconds. Vendors send milliseconds, seconds, a date or words. More
 * than a year is ignored.
 */
export const retryAfterMs = (headers: HeaderMap, words: string): number | undefined => {
  const wish = retryDelayOf(headers, words)
  return wish === undefined || !(wish <= yearMs) ? undefined : wish
}

const yearMs = 365 * 24 * 3_600_000

const retryDelayOf = (headers: HeaderMap, words: string): number | undefined => {
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

/** The time of the vendor if the answer has it, so that a difference between the clocks does not matter. */
export const now = (headers: HeaderMap): number => {
  const theirs = Date.parse(header(headers, "date") ?? "")
  return Number.isNaN(theirs) ? performance.timeOrigin + performance.now() : theirs
}

/** A time to wait, in words. */
const waitInWords = new RegExp(
  String.raw`(?:try again|retry|wait)[^.\d]{0,40}?(?:in|after|for)?\s*((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|` +
    String.raw`m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?|h(?:ours?)?)\s*)+)`,
  "i"
)

const inWords = (words: string): number | undefined => {
  const found = waitInWords.exec(words)?.[1]
  if (found === undefined) return undefined
  let sum = 0
  for (const [, amount, unit] of found.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/gi)) {
    sum += Number(amount) * lengthOf(unit ?? "s")
  }
  return sum
}

const lengthOf = (unit: string): number =>
  /^(?:ms|milli)/i.test(unit) ? 1 : /^h/i.test(unit) ? 3_600_000 : /^m/i.test(unit) ? 60_000 : 1000
