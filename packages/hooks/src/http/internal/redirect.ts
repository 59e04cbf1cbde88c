/** Where a redirect leads, and with what. */
import * as Result from "effect/Result"
import type { Asked } from "./asked.ts"
import { HttpRefused } from "./errors.ts"
import type { Answer } from "./exchange.ts"
import { read, type Rules, type Target } from "./target.ts"

/** Whether an answer sends its reader elsewhere. */
export const isRedirect = ({ locations, status }: Answer): boolean => statuses.has(status) && locations.length > 0

const statuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** The next request; or why there is none. A redirect is checked like any URL, and never leads to this machine. */
export const follow = (
  { locations, status }: Answer,
  from: Target,
  asked: Asked,
  rules: Rules
): Result.Result<{ readonly target: Target; readonly asked: Asked }, HttpRefused> => {
  const [location = "", ...more] = locations
  if (more.length > 0) return refuse(from, "it has more than one location")
  // A header is read as Latin-1: what is not ASCII would be another host than the server meant.
  if (!/^[\x21-\x5b\x5d-\x7e]*$/.test(location)) return refuse(from, "its location has characters that are not allowed")
  const url = Result.try(() => new URL(location, `${from.origin}${from.path}`))
  // Written with an empty host, or none, a location means one thing to this parser and another to the next.
  if (Result.isFailure(url) || /^(?:https?:(?!\/\/[^/])|\/\/\/)/i.test(location)) {
    return refuse(from, "its location is no URL")
  }
  const checked = read(url.success.href, { ...rules, loopback: new Set() })
  if (Result.isFailure(checked)) return refuse(from, checked.failure.message)
  const target = checked.success
  if (from.scheme === "https" && target.scheme === "http") return refuse(from, "it leads from https to http")
  const isRead = status === 303 ? asked.method !== "HEAD" : status < 303 && asked.method === "POST"
  const next: Asked = isRead ? { method: "GET", headers: withoutBody(asked.headers), body: undefined } : asked
  if (target.origin === from.origin) return Result.succeed({ target, asked: next })
  // What was meant for one server is not told to another.
  if (next.body !== undefined) return refuse(from, "a body does not follow to another origin")
  return Result.succeed({ target, asked: { ...next, headers: new Map() } })
}

const withoutBody = (headers: Asked["headers"]): Asked["headers"] =>
  new Map([...headers].filter(([name]) => !name.startsWith("content-")))

export const refuse = ({ origin }: Target, why: string) =>
  Result.fail(new HttpRefused({ reason: "redirect", message: `${origin} redirects, which is not followed: ${why}` }))
