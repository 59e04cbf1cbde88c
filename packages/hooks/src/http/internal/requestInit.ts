/** Checks the parts of a request, so that a caller cannot change its framing or its destination. */
import * as Result from "effect/Result"
import { HttpRefused } from "./errors.ts"

/** The parts of a request. @category models @since 0.1.0 */
export interface RequestInit {
  /** `GET`, `HEAD`, `POST`, `PUT`, `PATCH`, `DELETE` or `OPTIONS`. Default `GET`. */
  readonly method?: string
  /** Default none. */
  readonly headers?: Readonly<Record<string, string>>
  /** The body, which is sent as UTF-8. Default none. */
  readonly body?: string
  /** Aborts the request, which then fails. Default none. */
  readonly signal?: AbortSignal
}

/** A request that was checked. */
export interface CheckedRequest {
  readonly method: string
  /** The headers by their names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer | undefined
}

/** Checks a request. Fails with an `HttpRefused` error. */
export const checkRequest = (
  { body, headers = {}, method = "GET" }: RequestInit
): Result.Result<CheckedRequest, HttpRefused> => {
  const verb = String(method).toUpperCase()
  if (!methods.has(verb)) return refuse(`the method ${JSON.stringify(method).slice(0, 40)} is not allowed`)
  if (body !== undefined && (verb === "GET" || verb === "HEAD")) return refuse(`a ${verb} request has no body`)
  const checked = new Map<string, string>()
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase()
    // Names such as `__proto__` are valid tokens, but no server needs them and many mistake them.
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(lower) || lower in Object.prototype) {
      return refuse(`${JSON.stringify(name).slice(0, 40)} is not the name of a header`)
    }
    if (guardHeaders.has(lower) || lower.startsWith("proxy-")) return refuse(`the header ${lower} is set by the guard`)
    if (typeof value !== "string" || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      return refuse(`the value of the header ${lower} has characters that are not allowed`)
    }
    if (checked.has(lower)) return refuse(`the header ${lower} is given twice`)
    checked.set(lower, value)
  }
  return Result.succeed({
    method: verb,
    headers: checked,
    body: body === undefined ? undefined : Buffer.from(body, "utf8")
  })
}

const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

/** Headers that only the guard sets. */
const guardHeaders: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
])

const refuse = (why: string) =>
  Result.fail(new HttpRefused({ reason: "request", message: `the request may not be sent: ${why}` }))
