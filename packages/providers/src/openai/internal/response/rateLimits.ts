/** Reads what is left of the limits of an account from the headers of an answer. */
import type { LlmResponse, RateLimit } from "@belay/core/LlmCall"
import { header, type HeaderMap, now } from "../request/headers.ts"

type RateLimits = NonNullable<LlmResponse["rateLimits"]>

/** Returns the limits, or nothing if the vendor reports none. */
export const readRateLimits = (headers: HeaderMap): RateLimits | undefined => {
  if (!hasAny(headers)) return undefined
  const requests = firstOf(headers, requestNames)
  const tokens = firstOf(headers, tokenNames)
  if (requests === undefined && tokens === undefined) return undefined
  return { ...(requests === undefined ? {} : { requests }), ...(tokens === undefined ? {} : { tokens }) }
}

/** Returns how long to wait until limits that are used up are full again. */
export const waitMs = (limits: RateLimits | undefined): number | undefined => {
  const waits = [limits?.requests, limits?.tokens].flatMap((one) =>
    one?.remaining === 0 && one.resetMs !== undefined ? [one.resetMs] : []
  )
  return waits.length === 0 ? undefined : Math.max(...waits)
}

const hasAny = (headers: HeaderMap): boolean => {
  for (const name in headers) if (name.includes("ratelimit")) return true
  return false
}

/** The names of limit, remaining and reset. */
type Names = readonly [limit: string, remaining: string, reset: string]

const named = (prefix: string, suffix: string): Names => [
  `${prefix}limit${suffix}`,
  `${prefix}remaining${suffix}`,
  `${prefix}reset${suffix}`
]
const anthropic = (what: string): Names => [
  `anthropic-ratelimit-${what}-limit`,
  `anthropic-ratelimit-${what}-remaining`,
  `anthropic-ratelimit-${what}-reset`
]

const requestNames: ReadonlyArray<Names> = [
  named("x-ratelimit-", "-requests"),
  named("x-ratelimit-", "-requests-minute"),
  named("x-ratelimit-", "-requests-day"),
  anthropic("requests"),
  named("x-ratelimit-", ""),
  named("ratelimit-", "")
]
const tokenNames: ReadonlyArray<Names> = [
  named("x-ratelimit-", "-tokens"),
  named("x-ratelimit-", "-tokens-minute"),
  anthropic("tokens"),
  anthropic("input-tokens")
]

const firstOf = (headers: HeaderMap, all: ReadonlyArray<Names>): RateLimit | undefined => {
  for (const [limitName, remainingName, resetName] of all) {
    const limit = count(header(headers, limitName))
    const remaining = count(header(headers, remainingName))
    if (limit === undefined && remaining === undefined) continue
    const resetMs = durationOf(header(headers, resetName), headers)
    return {
      ...(limit === undefined ? {} : { limit }),
      ...(remaining === undefined ? {} : { remaining }),
      ...(resetMs === undefined ? {} : { resetMs })
    }
  }
  return undefined
}

const count = (text: string | undefined): number | undefined => {
  const value = text === undefined || text.trim() === "" ? Number.NaN : Number(text)
  return Number.isFinite(value) ? Math.max(0, value) : undefined
}

/** Vendors send `1.5s`, `6m0s`, `130ms`, seconds, a time in seconds or milliseconds since 1970, or a date. */
const durationOf = (text: string | undefined, headers: HeaderMap): number | undefined => {
  if (text === undefined || text.trim() === "") return undefined
  const value = Number(text)
  if (Number.isFinite(value)) {
    if (value > 1e12) return Math.max(0, value - now(headers))
    return value > 1e9 ? Math.max(0, value * 1000 - now(headers)) : Math.max(0, value * 1000)
  }
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)]
  if (parts.length > 0 && parts.map(([part]) => part).join("") === text.trim()) {
    return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (units.get(unit ?? "") ?? 0), 0)
  }
  const until = Date.parse(text)
  return Number.isNaN(until) ? undefined : Math.max(0, until - now(headers))
}

const units: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000]
])
