/**
 * Shortens a conversation. The default one keeps the recent messages and lists what was dropped; a model can do better.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { CompactionRequest, CompactionResult } from "../data/Compaction.ts"

/** @category models @since 0.1.0 */
export interface Compactor {
  readonly compact: (request: CompactionRequest) => Effect.Effect<CompactionResult, unknown>
}

/** The compactor as a service. @category services @since 0.1.0 */
export const Compactor = Context.Service<Compactor>("@belay/core/port/Compactor")
