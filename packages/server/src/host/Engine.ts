/**
 * Delivers sessions to the processes that run them: at least once, one at a time per session, and at the time that was
 * asked for. An engine knows nothing about agents.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** Does what can be done for a session now. It may be called again, also while nothing is to do. */
export type Advance = (sessionId: string) => Effect.Effect<void, unknown>

/** Wakes sessions that have something to do. @category models @since 0.1.0 */
export interface Engine {
  /** The name for logs and for errors. */
  readonly name: string
  /**
   * Asks for a session to be advanced, now or at a time in milliseconds since the epoch. When it succeeds, the request
   * survives the end of every process. Several requests may become one.
   */
  readonly wake: (sessionId: string, at?: number) => Effect.Effect<void, unknown>
  /**
   * Advances sessions in this process until the scope closes. Succeeds when the process takes part.
   *
   * - Every session that was woken is advanced at least once after that, by some process that takes part.
   * - It is never advanced by two at the same time, as far as the engine can tell. A process that has lost its place
   *   without knowing it may be late; the session store refuses what it writes.
   * - If `advance` fails, the session is advanced again after a delay that grows up to a minute.
   * - When the scope closes, the engine waits until its calls of `advance` have returned, and hands over the rest.
   */
  readonly start: (advance: Advance) => Effect.Effect<void, unknown, Scope.Scope>
}
