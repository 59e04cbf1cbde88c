/**
 * Keeps run states outside the process. Called at every point a run could be resumed from: after each tool, before each model call, at each end.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { RunState } from "../data/RunState.ts"

/** @category models @since 0.1.0 */
export interface SessionStore {
  readonly save: (state: RunState) => Effect.Effect<void, unknown>
  readonly load: (sessionId: string) => Effect.Effect<RunState | undefined, unknown>
}

/** Makes a store that lives as long as the process. @category constructors @since 0.1.0 */
export const inMemory = (): SessionStore => {
  const states = new Map<string, RunState>()
  return {
    save: (state) => Effect.sync(() => void states.set(state.sessionId, structuredClone(state))),
    load: (sessionId) => Effect.sync(() => states.get(sessionId))
  }
}
