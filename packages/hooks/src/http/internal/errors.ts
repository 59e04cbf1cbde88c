/** The errors of requests. */
import { TaggedError } from "@belay/core/TaggedError"
import * as Schema from "effect/Schema"

/**
 * A request is not sent, or a redirect is not followed, because the policy or the rules of the guard forbid it.
 *
 * @category errors
 * @since 0.1.0
 */
export class HttpRefused extends TaggedError<HttpRefused>()("HttpRefused", {
  /**
   * The reason. `url`: the URL cannot be read reliably. `request`: the method, the headers or the body are not allowed.
   * Any other value names the part of the URL that is not allowed.
   */
  reason: Schema.Literals(["url", "scheme", "userinfo", "port", "host", "address", "redirect", "request"]),
  message: Schema.String
}) {}

/**
 * A request has no answer. The error is the same for every cause, so that it does not reveal whether a port is open: an
 * unknown name, no connection, an invalid certificate, no HTTP, too slow, too large, incomplete.
 *
 * @category errors
 * @since 0.1.0
 */
export class HttpFailed extends TaggedError<HttpFailed>()("HttpFailed", {
  /** The scheme, host and port of the request. */
  origin: Schema.String,
  message: Schema.String
}) {}
