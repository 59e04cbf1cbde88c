/**
 * Converts errors of models of the AI SDK to a `ProviderError`. It identifies errors by name, because two copies of a
 * package have different classes.
 */
import type { LlmResponse } from "@belay/core/LlmCall"
import * as ProviderError from "@belay/core/ProviderError"
import { compact, countOf, isObject, textOf } from "../../openai/internal/request/guards.ts"
import type { HeaderMap } from "../../openai/internal/request/headers.ts"
import * as Errors from "../../openai/internal/response/errors.ts"

/** Returns the typed error. */
export const classify = (
  source: Errors.Source,
  error: unknown,
  partial?: Partial<LlmResponse>
): ProviderError.ProviderError => {
  const kept = partial === undefined ? {} : { partial }
  if (ProviderError.isProviderError(error)) return error
  if (!(error instanceof Error)) {
    return Errors.classify(source, { status: 200, headers: {}, text: bodyOf(error), ...kept })
  }
  const facts: { readonly [key: string]: unknown } = { ...error }
  const status = countOf(facts.statusCode)
  // The values are checked where they are read.
  const headers = isObject(facts.responseHeaders) ? facts.responseHeaders as HeaderMap : {}
  if (status !== undefined) {
    const body = textOf(facts.responseBody) ?? (facts.data === undefined ? undefined : compact(facts.data))
    const failure = { status, headers, text: body ?? (status >= 300 ? error.message : ""), ...kept }
    if (status >= 300) return Errors.classify(source, failure)
    const { cause } = error
    return body === undefined && cause instanceof Error && !cause.name.startsWith("AI_")
      ? Errors.connection(source, cause, failure)
      : Errors.malformedError(source, error.message, failure)
  }
  const about = {
    provider: source.provider,
    message: `${source.provider}: ${error.message}`,
    ...kept,
    ...modelOf(source)
  }
  if ("code" in error && error.code === "ERR_INVALID_URL") return new ProviderError.InvalidRequest(about)
  switch (error.name) {
    case "AI_LoadAPIKeyError":
      return new ProviderError.Auth(about)
    case "AI_NoSuchModelError":
      return new ProviderError.NotFound(about)
    case "AI_InvalidArgumentError":
    case "AI_InvalidPromptError":
    case "AI_LoadSettingError":
    case "AI_NoSuchProviderReferenceError":
    case "AI_UnsupportedFunctionalityError":
      return new ProviderError.InvalidRequest(about)
    case "AI_EmptyResponseBodyError":
    case "AI_InvalidResponseDataError":
    case "AI_JSONParseError":
    case "AI_NoContentGeneratedError":
    case "AI_TypeValidationError":
      return Errors.malformedError(source, error.message, { text: textOf(facts.text) ?? "", ...kept })
    case "TimeoutError":
      return new ProviderError.Timeout({ ...about, phase: "total" })
    default:
      return Errors.connection(source, error, kept)
  }
}

const modelOf = ({ model }: Errors.Source) => model === undefined ? {} : { model }

const bodyOf = (error: unknown): string =>
  typeof error === "string" ? error : compact(isObject(error) && !("error" in error) ? { error } : error)
