/** Checks redirects, and makes the next request. */
import * as Result from "effect/Result"
import { HttpRefused } from "./errors.ts"
import type { Answer } from "./exchange.ts"
import type { CheckedRequest } from "./requestInit.ts"
import { parseTarget, type Rules, type Target } from "./target.ts"

/** Whether an answer is a redirect. */
export const isRedirect = ({ locations, status }: Answer): boolean => statuses.has(status) && locations.length > 0

const statuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Returns the next request. A redirect is checked like any other URL, and never leads to this machine. */
export const followRedirect = (
  { locations, status }: Answer,
  from: Target,
  request: CheckedRequest,
  rules: Rules
): Result.Result<{ readonly target: Target; readonly request: CheckedRequest }, HttpRefused> => {
  const [location = "", ...more] = locations
  if (more.length > 0) return refuseRedirect(from, "it has more than one location")
  // Headers are read as Latin-1, so characters outside of ASCII would be another host than the server meant.
  if (!/^[\x21-\x5b\x5d-\x7e]*$/.test(location)) {
    return refuseRedirect(from, "its location has characters that are not allowed")
  }
  const url = Result.try(() => new URL(location, `${from.origin}${from.path}`))
  // URL parsers differ about locations with an empty host.
  if (Result.isFailure(url) || /^(?:https?:(?!\/\/[^/])|\/\/\/)/i.test(location)) {
    return refuseRedirect(from, "its location is not a URL")
  }
  const checked = parseTarget(url.success.href, { ...rules, loopback: new Set() })
  if (Result.isFailure(checked)) return refuseRedirect(from, checked.failure.message)
  const target = checked.success
  if (from.scheme === "https" && target.scheme === "http") return refuseRedirect(from, "it leads from https to http")
  const becomesGet = status === 303 ? request.method !== "HEAD" : status < 303 && request.method === "POST"
  const next: CheckedRequest = becomesGet
    ? { method: "GET", headers: withoutBody(request.headers), body: undefined }
    : request
  if (target.origin === from.origin) return Result.succeed({ target, request: next })
  // The body and the headers were meant for the first server only.
  if (next.body !== undefined) return refuseRedirect(from, "a body does not follow to another origin")
  return Result.succeed({ target, request: { ...next, headers: new Map() } })
}

const withoutBody = (headers: CheckedRequest["headers"]): CheckedRequest["headers"] =>
  new Map([...headers].filter(([name]) => !name.startsWith("content-")))

export const refuseRedirect = ({ origin }: Target, why: string) =>
  Result.fail(
    new HttpRefused({ reason: "redirect", message: `${origin} redirects, and the redirect is not followed: ${why}` })
  )
