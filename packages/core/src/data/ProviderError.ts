/**
 * What goes wrong between Belay and a model, one tag per kind. Retry and fallback are decided on these, never on
 * message texts.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { LlmResponse } from "./LlmCall.ts"

const fields = {
  /** Name of the provider, as registered. */
  provider: Schema.String,
  message: Schema.String,
  model: Schema.optionalKey(Schema.String),
  /** HTTP status, where there was one. */
  status: Schema.optionalKey(Schema.Finite),
  requestId: Schema.optionalKey(Schema.String),
  /** The first 2,000 characters of the body, secrets redacted. */
  body: Schema.optionalKey(Schema.String),
  /** What had arrived before the failure. Never acted on. */
  partial: Schema.optionalKey(Schema.Unknown as unknown as Schema.Codec<Partial<LlmResponse>>)
}

/** Too many requests; `retryAfterMs` is the vendor's own wish. @category errors @since 0.1.0 */
export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  ...fields,
  retryAfterMs: Schema.optionalKey(Schema.Finite)
}) {}

/** The vendor is out of capacity (503, 529). @category errors @since 0.1.0 */
export class Overloaded extends Schema.TaggedError<Overloaded>()("Overloaded", {
  ...fields,
  retryAfterMs: Schema.optionalKey(Schema.Finite)
}) {}

/** The account is out of money or quota. @category errors @since 0.1.0 */
export class QuotaExceeded extends Schema.TaggedError<QuotaExceeded>()("QuotaExceeded", fields) {}

/** The key is missing or wrong. @category errors @since 0.1.0 */
export class Auth extends Schema.TaggedError<Auth>()("Auth", fields) {}

/** The key is right but may not do this. @category errors @since 0.1.0 */
export class Permission extends Schema.TaggedError<Permission>()("Permission", fields) {}

/** No such model or endpoint. @category errors @since 0.1.0 */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", fields) {}

/**
 * The request is longer than the model's window; numbers in tokens where the vendor gives them.
 *
 * @category errors
 * @since 0.1.0
 */
export class ContextOverflow extends Schema.TaggedError<ContextOverflow>()("ContextOverflow", {
  ...fields,
  requested: Schema.optionalKey(Schema.Finite),
  limit: Schema.optionalKey(Schema.Finite)
}) {}

/** The vendor's filter refused the prompt or the answer. @category errors @since 0.1.0 */
export class ContentFiltered extends Schema.TaggedError<ContentFiltered>()("ContentFiltered", fields) {}

/** The vendor could not read the tool call that its own model wrote. @category errors @since 0.1.0 */
export class ToolUseFailed extends Schema.TaggedError<ToolUseFailed>()("ToolUseFailed", fields) {}

/** The request is wrong; `param` is the field the vendor names. @category errors @since 0.1.0 */
export class InvalidRequest extends Schema.TaggedError<InvalidRequest>()("InvalidRequest", {
  ...fields,
  param: Schema.optionalKey(Schema.String)
}) {}

/** The vendor's server failed (500, 502, 504). @category errors @since 0.1.0 */
export class ServerError extends Schema.TaggedError<ServerError>()("ServerError", {
  ...fields,
  retryAfterMs: Schema.optionalKey(Schema.Finite)
}) {}

/** Nothing came in time; `phase` says what was waited for. @category errors @since 0.1.0 */
export class Timeout extends Schema.TaggedError<Timeout>()("Timeout", {
  ...fields,
  phase: Schema.Literals(["headers", "first-event", "idle", "total"])
}) {}

/** No connection, or it broke. @category errors @since 0.1.0 */
export class Connection extends Schema.TaggedError<Connection>()("Connection", fields) {}

/** The answer is not what the protocol promises (truncated, HTML, empty, bad JSON). @category errors @since 0.1.0 */
export class Malformed extends Schema.TaggedError<Malformed>()("Malformed", fields) {}

/** Every way a provider fails. Cancellation is not among them: it is an interruption. @category errors @since 0.1.0 */
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

/** Whether a value is a `ProviderError`. @category guards @since 0.1.0 */
export const isProviderError = (value: unknown): value is ProviderError =>
  value instanceof Error && "_tag" in value && typeof value._tag === "string" && tags.has(value._tag) &&
  "provider" in value

const retryableTags: ReadonlySet<string> = new Set([
  "RateLimited",
  "Overloaded",
  "ServerError",
  "Timeout",
  "Connection",
  "Malformed",
  "ToolUseFailed"
])

/** Whether the same request may succeed a moment later. @category reading @since 0.1.0 */
export const isRetryable = (error: ProviderError): boolean => retryableTags.has(error._tag)

/** Whether another provider may succeed where this one failed. @category reading @since 0.1.0 */
export const isFallbackable = (error: ProviderError): boolean =>
  error._tag !== "InvalidRequest" && error._tag !== "ContentFiltered" && error._tag !== "ContextOverflow"

/** Milliseconds the vendor asks to wait, where it does. @category reading @since 0.1.0 */
export const retryAfterMs = (error: ProviderError): number | undefined =>
  "retryAfterMs" in error ? error.retryAfterMs : undefined
