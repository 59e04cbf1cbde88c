/**
 * Shortens a conversation. The default one keeps the recent messages and lists what was dropped; a model can do better.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { CompactionRequest, CompactionResult } from "../data/Compaction.ts"

/** @category models @since 0.1.0 */
export interface Compactor {
  readonly compact: (request: CompactionRequest) => Effect.Effect<CompactionResult, unknown>
}
