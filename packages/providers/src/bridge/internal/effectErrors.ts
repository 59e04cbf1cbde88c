/** Converts errors between Belay and `effect/ai` in both directions. */
import type { LlmResponse } from "@belay/core/LlmCall"
import * as ProviderError from "@belay/core/ProviderError"
import * as AiError from "effect/ai/AiError"
import * as Duration from "effect/Duration"
import * as Errors from "../../openai/internal/response/errors.ts"
import * as Overflow from "../../openai/internal/response/overflow.ts"
import * as AiSdkErrors from "./aiSdkErrors.ts"

/**
 * The original error of a converted one, so that converting it back returns the original. A weak map, because their
 * error class has no room for it.
 */
const originals = new WeakMap<object, ProviderError.ProviderError>()

/** Converts an error of `effect/ai`. */
export const fromAiError = (
  source: Errors.Source,
  error: unknown,
  partial?: Partial<LlmResponse>
): ProviderError.ProviderError => {
  if (!AiError.isAiError(error)) return AiSdkErrors.classify(source, error, partial)
  const original = originals.get(error)
  if (original !== undefined) return original
  const { reason } = error
  const kept = partial === undefined ? {} : { partial }
  const http = "http" in reason ? reason.http : undefined
  const status = http?.response?.status
  if (status !== undefined && status >= 300) {
    const headers = Object.fromEntries(
      Object.entries(http?.response?.headers ?? {}).flatMap(([name, value]) =>
        typeof value === "string" ? [[name.toLowerCase(), value]] : []
      )
    )
    return Errors.classify(source, { status, headers, text: http?.body ?? reason.message, ...kept })
  }
  const { model, provider } = source
  const about = {
    provider,
    message: `${provider}: ${reason.message}`,
    ...(model === undefined ? {} : { model }),
    ...kept
  }
  switch (reason._tag) {
    case "RateLimitError":
      return new ProviderError.RateLimited(
        reason.retryAfter === undefined ? about : { ...about, retryAfterMs: Duration.toMillis(reason.retryAfter) }
      )
    case "QuotaExhaustedError":
      return new ProviderError.QuotaExceeded(about)
    case "AuthenticationError":
      return reason.kind === "InsufficientPermissions"
        ? new ProviderError.Permission(about)
        : new ProviderError.Auth(about)
    case "ContentPolicyError":
      return new ProviderError.ContentFiltered(about)
    case "InternalProviderError":
    case "UnknownError":
      return new ProviderError.ServerError(about)
    case "InvalidOutputError":
    case "InvalidResponseError":
    case "StructuredOutputError":
      return Errors.malformedError(source, reason.message, kept)
    case "NetworkError":
      return new ProviderError.Connection(about)
    case "InvalidRequestError": {
      const overflow = Overflow.readOverflow(reason.description ?? "")
      if (overflow !== undefined) return new ProviderError.ContextOverflow({ ...about, ...overflow })
      return new ProviderError.InvalidRequest(
        reason.parameter === undefined ? about : { ...about, param: reason.parameter }
      )
    }
    default:
      return new ProviderError.InvalidRequest(about)
  }
}

/** Converts a `ProviderError` to an error of `effect/ai`. */
export const toAiError = (method: string) => (error: ProviderError.ProviderError): AiError.AiError => {
  const made = AiError.make({ module: error.provider, method, reason: reasonOf(error) })
  originals.set(made, error)
  return made
}

const reasonOf = (error: ProviderError.ProviderError): AiError.AiErrorReason => {
  const { body, message: description, status } = error
  const http = status === undefined
    ? {}
    : { http: { response: { status, headers: {} }, ...(body === undefined ? {} : { body }) } }
  switch (error._tag) {
    case "RateLimited":
      return new AiError.RateLimitError({
        ...http,
        ...(error.retryAfterMs === undefined ? {} : { retryAfter: Duration.millis(error.retryAfterMs) })
      })
    case "QuotaExceeded":
      return new AiError.QuotaExhaustedError(http)
    case "Auth":
      return new AiError.AuthenticationError({ kind: "InvalidKey", description, ...http })
    case "Permission":
      return new AiError.AuthenticationError({ kind: "InsufficientPermissions", description, ...http })
    case "ContentFiltered":
      return new AiError.ContentPolicyError({ description, ...http })
    case "Overloaded":
    case "ServerError":
      return new AiError.InternalProviderError({ description, ...http })
    case "Malformed":
    case "ToolUseFailed":
      return new AiError.InvalidOutputError({ description })
    case "Timeout":
    case "Connection":
      return new AiError.NetworkError({ reason: "TransportError", method: "POST", url: error.provider, description })
    case "NotFound":
    case "ContextOverflow":
      return new AiError.InvalidRequestError({ description, ...http })
    case "InvalidRequest":
      return new AiError.InvalidRequestError({
        description,
        ...http,
        ...(error.param === undefined ? {} : { parameter: error.param })
      })
  }
}
