/** Finds message, code and type of an error in the shapes that vendors use. */
import { compact, countOf, isObject, type Loose, parse, textOf } from "../request/guards.ts"

/** The error of a vendor, whatever shape it came in. */
export interface VendorError {
  readonly message: string
  readonly code: string
  readonly type: string
  readonly param: string
  /** Reads the error of an upstream vendor from the answer of a gateway. */
  readonly raw: string
  readonly status: number | undefined
  /** Milliseconds to wait, if the body says it in a field. */
  readonly retryAfterMs: number | undefined
  readonly requestId: string | undefined
}

/** Finds message, code and type in the shapes that vendors use. */
export const readErrorBody = (text: string, now: number): VendorError => {
  const json = parse(text)
  const outer = Array.isArray(json) ? json.find(isObject) : json
  if (!isObject(outer)) {
    return {
      message: /^\s*</.test(text) ? titleOf(text) : textOf(json) ?? text.trim(),
      code: "",
      type: "",
      param: "",
      raw: "",
      status: undefined,
      retryAfterMs: undefined,
      requestId: undefined
    }
  }
  const inner = isObject(outer.error)
    ? outer.error
    : isObject(outer.response) && isObject(outer.response.error)
    ? outer.response.error
    : Array.isArray(outer.errors)
    ? outer.errors.find(isObject) ?? {}
    : {}
  const metadata = isObject(inner.metadata) ? inner.metadata : {}
  const innerError = isObject(inner.innererror) ? inner.innererror : {}
  const code = scalar(inner.code) ?? scalar(outer.code) ?? ""
  const status = [inner.status_code, inner.status, inner.code, outer.status_code, outer.status, outer.code]
    .map((value) => Number(scalar(value) ?? Number.NaN))
    .find((value) => Number.isInteger(value) && value >= 400 && value < 600)
  return {
    message: textOf(inner.message) ?? textOf(outer.error) ?? textOf(outer.message) ?? detail(outer.detail) ??
      detail(inner.detail) ??
      text.trim().slice(0, 500),
    code: `${code}${textOf(innerError.code) === undefined ? "" : ` ${textOf(innerError.code)}`}`,
    type: scalar(inner.type) ?? scalar(outer.type) ?? scalar(inner.status) ?? "",
    param: scalar(inner.param) ?? scalar(outer.param) ?? "",
    raw: `${numbersOf(inner)} ${quotaIds(inner.details)} ${
      textOf(metadata.raw) ?? (metadata.raw === undefined ? "" : compact(metadata.raw))
    }`.trim(),
    status,
    retryAfterMs: delayIn(inner.details) ?? untilReset(metadata.headers, now),
    requestId: textOf(outer.request_id) ?? textOf(inner.request_id)
  }
}

const numbersOf = (inner: Loose): string =>
  countOf(inner.n_prompt_tokens) === undefined
    ? ""
    : `n_prompt_tokens: ${countOf(inner.n_prompt_tokens)} n_ctx: ${countOf(inner.n_ctx)}`

const scalar = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : typeof value === "number" ? String(value) : undefined

const detail = (given: unknown): string | undefined => {
  if (typeof given === "string") return textOf(given)
  if (isObject(given)) return textOf(given.message) ?? textOf(given.msg) ?? compact(given)
  if (!Array.isArray(given)) return undefined
  return given.map((item) =>
    isObject(item) ? `${placeOf(item.loc)}${textOf(item.msg) ?? textOf(item.message) ?? compact(item)}` : compact(item)
  ).join("; ")
}

const placeOf = (loc: unknown): string =>
  Array.isArray(loc) ? `${loc.map((step) => scalar(step) ?? "?").join(".")}: ` : ""

const titleOf = (html: string): string =>
  `an HTML page${
    /<title[^>]*>([^<]{1,120})/i.exec(html)?.[1] === undefined
      ? ""
      : ` titled "${/<title[^>]*>([^<]{1,120})/i.exec(html)?.[1]?.trim()}"`
  }`

/** The delay of Google's `RetryInfo`, in milliseconds. */
const delayIn = (details: unknown): number | undefined => {
  if (!Array.isArray(details)) return undefined
  const delay = details.map((one) => isObject(one) ? textOf(one.retryDelay) : undefined).find((one) =>
    one !== undefined
  )
  const seconds = /^(\d+(?:\.\d+)?)s$/.exec(delay ?? "")?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1000
}

/** The names of Google's quotas that are used up. They contain `PerDay` or `PerMinute`. */
const quotaIds = (details: unknown): string =>
  Array.isArray(details)
    ? details.flatMap((one) => isObject(one) && Array.isArray(one.violations) ? one.violations : []).map((one) =>
      isObject(one) ? textOf(one.quotaId) ?? "" : ""
    ).join(" ")
    : ""

/** The time until a reset that a gateway reports in milliseconds since 1970. */
const untilReset = (headers: unknown, now: number): number | undefined => {
  const reset = isObject(headers) ? Number(headers["X-RateLimit-Reset"] ?? headers["x-ratelimit-reset"]) : Number.NaN
  return reset > 1e12 ? Math.max(0, reset - now) : undefined
}
