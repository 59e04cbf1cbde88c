/**
 * Sends HTTP requests for hooks (`ctx.http`), and decides what may be reached.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { HttpRequest, HttpResponse } from "../data/Http.ts"

/** @category models @since 0.1.0 */
export interface HttpClient {
  /** Sends a request and reads the whole answer; every status is an answer. Interruption ends it. */
  readonly request: (request: HttpRequest) => Effect.Effect<HttpResponse, unknown>
}
