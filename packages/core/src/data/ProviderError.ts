/**
 * The errors of providers. Each kind has its own tag. Retries and fallbacks depend on the tag, never on the text of a
 * message.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { TaggedError } from "./effect/TaggedError.ts"
import type { LlmResponse } from "./LlmCall.ts"
import type { TurnPartial } from "./TurnPartial.ts"

const fields = {
  /** The name of the provider. */
  provider: Schema.String,
  message: Schema.String,
  model: Schema.optionalKey(Schema.String),
  /** The HTTP status, if there was a response. */
  status: Schema.optionalKey(Schema.Finite),
  requestId: Schema.optionalKey(Schema.String),
  /** The first 2,000 characters of the response body, with secrets redacted. */
  body: Schema.optionalKey(Schema.String),
  /**
   * For hooks: what had arrived of this call before it failed. For the caller of a turn: what the turn had said and
   * spent before.
   */
  partial: Schema.optionalKey(Schema.Unknown as unknown as Schema.Codec<Partial<LlmResponse & TurnPartial>>)
}

/** There were too many requests. `retryAfterMs` is how long the vendor asks to wait. @category errors @since 0.1.0 */
export class RateLimited extends TaggedError<RateLimited>()("RateLimited", {
  ...fields,
  retryAfterMs: Schema.optionalKey(Schema.Finite)
}) {}

/** The vendor has no capacity at the moment (503, 529). @category errors @since 0.1.0 */
export class Overloaded extends TaggedError<Overloaded>()("Overloaded", {
  ...fields,
  retryAfterMs: Schema.optionalKey(Schema.Finite)
}) {}

/** The account has no money or quota left. @category errors @since 0.1.0 */
export class QuotaExceeded extends TaggedError<QuotaExceeded>()("QuotaExceeded", fields) {}

/** The API key is missing or wrong. @category errors @since 0.1.0 */
export class Auth extends TaggedError<Auth>()("Auth", fields) {}

/** The API key is valid but has no permission for this request. @category errors @since 0.1.0 */
export class Permission extends TaggedError<Permission>()("Permission", fields) {}

/** The model or the endpoint does not exist. @category errors @since 0.1.0 */
export class NotFound extends TaggedError<NotFound>()("NotFound", fields) {}

/**
 * The request is longer than the model's window. The numbers are in tokens and set only if the vendor reports them.
 *
 * @category errors
 * @since 0.1.0
 */
export class ContextOverflow extends TaggedError<ContextOverflow>()("ContextOverflow", {
  ...fields,
  requested: Schema.optionalKey(Schema.Finite),
  limit: Schema.optionalKey(Schema.Finite)
}) {}

/** The vendor's filter refused the prompt or the answer. @category errors @since 0.1.0 */
export class ContentFiltered extends TaggedError<ContentFiltered>()("ContentFiltered", fields) {}

/** The vendor could not parse the tool call that its model wrote. @category errors @since 0.1.0 */
export class ToolUseFailed extends TaggedError<ToolUseFailed>()("ToolUseFailed", fields) {}

/** The request is invalid; `param` is the field that the vendor named. @category errors @since 0.1.0 */
export class InvalidRequest extends TaggedError<InvalidRequest>()("InvalidRequest", {
  ...fields,
  param: Schema.optionalKey(Schema.String)
}) {}

/** The vendor's server failed (500, 502, 504). @category errors @since 0.1.0 */
export class ServerError extends TaggedError<ServerError>()("ServerError", {
  ...fields,
  retryAfterMs: Schema.optionalKey(Schema.Finite)
}) {}

/** The response did not arrive in time; `phase` is the part that was late. @category errors @since 0.1.0 */
export class Timeout extends TaggedError<Timeout>()("Timeout", {
  ...fields,
  phase: Schema.Literals(["headers", "first-event", "idle", "total"])
}) {}

/** The connection could not be made, or it broke. @category errors @since 0.1.0 */
export class Connection extends TaggedError<Connection>()("Connection", fields) {}

/** The response violates the protocol: it is truncated, empty, HTML, or invalid JSON. @category errors @since 0.1.0 */
export class Malformed extends TaggedError<Malformed>()("Malformed", fields) {}

/** All errors of a provider. Cancellation is not an error; it is an interruption. @category errors @since 0.1.0 */
export type ProviderError =
  | RateLimited
  | Overloaded
  | QuotaExceeded
  | Auth
  | Permission
  | NotFound
  | ContextOverflow
  | ContentFiltered
  | ToolUseFailed
  | InvalidRequest
  | ServerError
  | Timeout
  | Connection
  | Malformed

const tags: ReadonlySet<string> = new Set<ProviderError["_tag"]>([
  "RateLimited",
  "Overloaded",
  "QuotaExceeded",
  "Auth",
  "Permission",
  "NotFound",
  "ContextOverflow",
  "ContentFiltered",
  "ToolUseFailed",
  "InvalidRequest",
  "ServerError",
  "Timeout",
  "Connection",
  "Malformed"
])

/** Returns whether a value is a `ProviderError`. @category guards @since 0.1.0 */
export const isProviderError = (value: unknown): value is ProviderError =>
  value instanceof Error && "_tag" in value && typeof value._tag === "string" && tags.has(value._tag) &&
  "provider" in value

const retryableTags: ReadonlySet<string | undefined> = new Set([
  "RateLimited",
  "Overloaded",
  "ServerError",
  "Timeout",
  "Connection",
  "Malformed",
  "ToolUseFailed"
])

/** Returns whether the same request may succeed if it is sent again later. @category reading @since 0.1.0 */
export const isRetryable = (error: ProviderError): boolean => retryableTags.has(tagOf(error))

/** Returns whether another provider may succeed with the same request. @category reading @since 0.1.0 */
export const isFallbackable = (error: ProviderError): boolean => {
  const tag = tagOf(error)
  return tag !== "InvalidRequest" && tag !== "ContentFiltered" && tag !== "ContextOverflow"
}

/** Programs without types may pass anything. */
const tagOf = (error: ProviderError | null | undefined): string | undefined => error?._tag

/** Returns how many milliseconds the vendor asks to wait, if it does. @category reading @since 0.1.0 */
export const retryAfterMs = (error: ProviderError): number | undefined =>
  typeof error === "object" && error !== null && "retryAfterMs" in error ? error.retryAfterMs : undefined
