/**
 * Sends HTTP requests for hooks (`ctx.http`), and decides which addresses are allowed.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { HttpRequest, HttpResponse } from "../data/Http.ts"

/** Sends the HTTP requests of hooks. @category models @since 0.1.0 */
export interface HttpClient {
  /**
   * Sends a request and reads the whole response. A response with any status is a success. Interruption cancels the
   * request.
   */
  readonly request: (request: HttpRequest) => Effect.Effect<HttpResponse, unknown>
}
