/** What a request that is not answered ends with. */
import * as Schema from "effect/Schema"

/**
 * A request is not sent, or not followed further, because the policy or the guard's own rules forbid it.
 *
 * @category errors
 * @since 0.1.0
 */
export class HttpRefused extends Schema.TaggedError<HttpRefused>()("HttpRefused", {
  /**
   * `url`: cannot be read for sure. `request`: its method, headers or body. The others say which part of the URL is
   * forbidden.
   */
  reason: Schema.Literals(["url", "scheme", "userinfo", "port", "host", "address", "redirect", "request"]),
  message: Schema.String
}) {}

/**
 * A request was sent, or was to be, and has no answer. The error is the same whatever went wrong, so that it does not
 * tell whether a port was open:
 * no such name, no connection, a bad certificate, no HTTP, too slow, too large, cut off.
 *
 * @category errors
 * @since 0.1.0
 */
export class HttpFailed extends Schema.TaggedError<HttpFailed>()("HttpFailed", {
  /** Scheme, host and port that were asked. */
  origin: Schema.String,
  message: Schema.String
}) {}
