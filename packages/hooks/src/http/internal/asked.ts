/** What is asked of a server, checked: nothing a caller says may change how the request is framed or where it goes. */
import * as Result from "effect/Result"
import { HttpRefused } from "./errors.ts"

/** How to ask. */
export interface Init {
  /** `GET`, `HEAD`, `POST`, `PUT`, `PATCH`, `DELETE` or `OPTIONS`. Default `GET`. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as UTF-8. */
  readonly body?: string
  /** Ends the request, which then fails. */
  readonly signal?: AbortSignal
}

/** A request that can be sent. */
export interface Asked {
  readonly method: string
  /** Names are in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer | undefined
}

export const read = ({ body, headers = {}, method = "GET" }: Init): Result.Result<Asked, HttpRefused> => {
  const verb = String(method).toUpperCase()
  if (!methods.has(verb)) return refuse(`the method ${JSON.stringify(method).slice(0, 40)} is not allowed`)
  if (body !== undefined && (verb === "GET" || verb === "HEAD")) return refuse(`a ${verb} has no body`)
  const read = new Map<string, string>()
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase()
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(lower)) {
      return refuse(`${JSON.stringify(name).slice(0, 40)} is no name of a header`)
    }
    if (ours.has(lower) || lower.startsWith("proxy-")) return refuse(`the header ${lower} is the guard's`)
    if (typeof value !== "string" || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      return refuse(`the value of the header ${lower} has characters that are not allowed`)
    }
    if (read.has(lower)) return refuse(`the header ${lower} is given twice`)
    read.set(lower, value)
  }
  return Result.succeed({
    method: verb,
    headers: read,
    body: body === undefined ? undefined : Buffer.from(body, "utf8")
  })
}

const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

const ours: ReadonlySet<string> = new Set([
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
