/**
 * Shortens a conversation. The default compactor keeps the recent messages and lists what it dropped. A compactor that
 * uses a model can write a better summary.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { AgentError } from "../data/AgentError.ts"
import type { CompactionRequest, CompactionResult } from "../data/Compaction.ts"
import type { LlmParameters, LlmResponse } from "../data/LlmCall.ts"
import type { Message } from "../data/Message.ts"

/** The capabilities of a compactor. @category models @since 0.1.0 */
export interface CompactorCapabilities {
  /** Calls the agent's model. Its cost counts like that of any other call. */
  readonly llm: (request: {
    readonly prompt: string | ReadonlyArray<Message>
    readonly instructions?: string
    readonly model?: string
    readonly provider?: string
    readonly parameters?: LlmParameters
  }) => Effect.Effect<LlmResponse, AgentError>
}

/** Shortens conversations. @category models @since 0.1.0 */
export interface Compactor {
  readonly compact: (
    request: CompactionRequest,
    capabilities: CompactorCapabilities
  ) => Effect.Effect<CompactionResult, unknown>
}
