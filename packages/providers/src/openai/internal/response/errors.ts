/** Converts an error answer to a `ProviderError`. */
import { defined } from "@belay/core/Fields"
import type { LlmResponse } from "@belay/core/LlmCall"
import * as ProviderError from "@belay/core/ProviderError"
import { header, type HeaderMap, now, requestId, retryAfterMs } from "../request/headers.ts"
import * as Address from "./address.ts"
import { readErrorBody, type VendorError } from "./errorBody.ts"
import * as Overflow from "./overflow.ts"
import { isQuota } from "./quota.ts"
import { readRateLimits, waitMs } from "./rateLimits.ts"

/** The endpoint that an error is about. */
export interface Source {
  readonly provider: string
  readonly model: string | undefined
  /** Where the request goes, for advice about a wrong address. */
  readonly address?: string
  /** Texts that must never appear in an error. */
  readonly secrets: ReadonlyArray<string>
}

/** An error answer of a vendor. */
export interface Failure {
  readonly status: number
  readonly headers: HeaderMap
  /** The body, or the event for an error in a stream. */
  readonly text: string
  readonly partial?: Partial<LlmResponse>
}

/** Returns the typed error for an answer. */
export const classify = (source: Source, failure: Failure): ProviderError.ProviderError => {
  const vendorError = readErrorBody(failure.text, now(failure.headers))
  const status = failure.status >= 300 ? failure.status : vendorError.status ?? failure.status
  const words = `${vendorError.code} ${vendorError.type} ${vendorError.message} ${vendorError.raw}`.slice(0, 4000)
  const retry = retryAfterMs(failure.status >= 400 ? failure.headers : {}, words) ?? vendorError.retryAfterMs ??
    (failure.status === 429 ? waitMs(readRateLimits(failure.headers)) : undefined)
  const facts = {
    ...common(source, failure, status, vendorError),
    ...(retry === undefined ? {} : { retryAfterMs: retry })
  }
  const { retryAfterMs: _, ...plain } = facts
  const overflow = status === 402
    ? undefined
    : Overflow.readOverflow(words, status) ?? (status === 413 ? {} : undefined)
  if (overflow !== undefined) return new ProviderError.ContextOverflow({ ...plain, ...overflow })
  if (isQuota(status, vendorError, words, retry)) return new ProviderError.QuotaExceeded(plain)
  if (isAuth(status, vendorError, words)) return new ProviderError.Auth(plain)
  if (
    /content_?filter|content_policy|ResponsibleAIPolicyViolation|data_inspection_failed|content management policy/i
      .test(words)
  ) {
    return new ProviderError.ContentFiltered(plain)
  }
  if (/tool_use_failed/i.test(words)) return new ProviderError.ToolUseFailed(plain)
  if (isNotFound(status, words)) return new ProviderError.NotFound(plain)
  if (status === 403) return new ProviderError.Permission(plain)
  if (status === 429 || (status < 400 && /rate[ _-]?limit|too many requests/i.test(words))) {
    return new ProviderError.RateLimited(facts)
  }
  if (status === 503 || status === 529 || ((status >= 500 || status < 400) && overloadPattern.test(words))) {
    return new ProviderError.Overloaded(facts)
  }
  if (status >= 500 || status < 300 || status === 408 || status === 409 || status === 425) {
    return new ProviderError.ServerError(facts)
  }
  return new ProviderError.InvalidRequest({
    ...plain,
    ...(vendorError.param === "" ? {} : { param: vendorError.param })
  })
}

/** The error for an answer that breaks the protocol. */
export const malformedError = (source: Source, reason: string, failure: Partial<Failure>): ProviderError.Malformed =>
  new ProviderError.Malformed({
    provider: source.provider,
    message: `${source.provider} sent an invalid answer: ${reason}${
      failure.text === undefined || failure.text === ""
        ? ""
        : `: ${redact(failure.text.replace(/\s+/g, " ").slice(0, 120), source)}`
    }`,
    ...about(source, failure)
  })

/** The error for an answer that did not arrive in time. */
export const timeout = (
  source: Source,
  phase: ProviderError.Timeout["phase"],
  afterMs: number,
  failure: Partial<Failure>
): ProviderError.Timeout =>
  new ProviderError.Timeout({
    provider: source.provider,
    message: `${source.provider} ${phaseTexts[phase]} for ${afterMs} ms`,
    phase,
    ...about(source, failure)
  })

const phaseTexts = {
  headers: "sent no answer",
  "first-event": "sent no first event",
  idle: "sent nothing more",
  total: "did not finish"
} as const

/** The error for a connection that failed or broke. */
export const connection = (source: Source, error: Error, failure: Partial<Failure>): ProviderError.Connection => {
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : ""
  const text = error.message === ""
    ? code ?? "failed"
    : code === undefined || error.message.includes(code)
    ? error.message
    : `${code}: ${error.message}`
  return new ProviderError.Connection({
    provider: source.provider,
    message: redact(
      `${source.provider}: the connection failed: ${text}${cause}${Address.connectionAdvice(source.address, text)}`,
      source
    ),
    ...about(source, failure)
  })
}

/** The error for a request that could not be sent. */
export const unsendable = (source: Source, message: string, param?: string): ProviderError.InvalidRequest =>
  new ProviderError.InvalidRequest({
    provider: source.provider,
    message: `${source.provider}: ${message}`,
    ...(param === undefined ? {} : { param }),
    ...about(source, {})
  })

const overloadPattern =
  /overloaded|over capacity|at capacity|insufficient_system_resource|high demand|no available (?:capacity|worker)/i

/** What vendors say about a key that they do not accept. */
const noAccess = new RegExp(
  "(?:incorrect|invalid|missing|expired)[_ ]api[_ ]key|api key (?:not valid|is invalid|expired)|" +
    "authentication_error|missing authentication|no auth credentials",
  "i"
)

const isAuth = (status: number, vendorError: VendorError, words: string): boolean =>
  status === 401 || vendorError.code === "401"
  || (status < 500 && status !== 429 &&
    noAccess.test(words))

const isNotFound = (status: number, words: string): boolean =>
  status === 404 || status === 405 || status === 410 || (status < 500 && isAboutModel(words)) ||
  (status < 300 && /unexpected endpoint or method/i.test(words))

const isAboutModel = (words: string): boolean => noSuchModel.some((one) => one.test(words))

/** A model that does not exist, is retired, or is not offered by the vendor. */
const noSuchModel: ReadonlyArray<RegExp> = [
  /model_?not_?found|DeploymentNotFound|model_not_exist|\bmodel\b[^.]{0,80}\b(?:does not exist|not found|not exist)/i,
  /\b(?:unknown_model|invalid_model|model_?(?:decommissioned|deprecated|retired|not_supported|not_available))\b/i,
  /\b(?:unknown model\b|invalid model(?: name| id)?(?::| passed| ['"`]))|is not a valid model\b|模型不存在/i,
  new RegExp(
    "\\bmodel:? (?!parameter)['\"`]?[\\w.:/@-]+['\"`]? (?:(?:has been|was|is|is now) (?:deprecated|" +
      "decommissioned|retired|discontinued|shut down|no longer)|(?:does not exist|not found|" +
      "has reached its end of life))",
    "i"
  )
]

const common = (source: Source, failure: Failure, status: number, vendorError: VendorError) => ({
  provider: source.provider,
  message: redact(
    `${source.provider} answered ${status}${failure.status === status ? "" : ` (inside a ${failure.status})`}: ${
      errorMessage(failure, vendorError)
    }${Address.answerAdvice(source.address, status, `${vendorError.message} ${vendorError.code}`, isAboutModel)}`,
    source
  ),
  ...about(source, { ...failure, status }),
  ...(vendorError.requestId === undefined || requestId(failure.headers) !== undefined
    ? {}
    : { requestId: vendorError.requestId })
})

const errorMessage = (failure: Failure, vendorError: VendorError): string => {
  const location = failure.status >= 300 && failure.status < 400 ? header(failure.headers, "location") : undefined
  if (location !== undefined) return `a redirect to ${location}; use the final address as base URL`
  return vendorError.message === ""
    ? vendorError.code === "" ? "no explanation" : vendorError.code
    : vendorError.message.slice(0, 500)
}

const about = (source: Source, failure: Partial<Failure>) => {
  const id = failure.headers === undefined ? undefined : requestId(failure.headers)
  return {
    ...defined({ model: source.model, status: failure.status, requestId: id }),
    ...(failure.text === undefined || failure.text === "" ? {} : { body: redact(failure.text.slice(0, 2000), source) }),
    ...(failure.partial === undefined ? {} : { partial: failure.partial })
  }
}

const redact = (text: string, source: Source): string =>
  redactKeys(
    source.secrets.reduce((shown, secret) => secret.length < 4 ? shown : shown.replaceAll(secret, "[redacted]"), text)
  )

/** Replaces everything that looks like a key. */
export const redactKeys = (text: string): string =>
  text.replace(/\b(?:sk|pk|rk|gsk|xai|hf|AIza)[-_][A-Za-z0-9_*-]{8,}/g, "[redacted]")
    .replace(/\bBearer\s+[\w.~+/-]{8,}=*/gi, "Bearer [redacted]")
