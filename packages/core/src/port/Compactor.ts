/**
 * Shortens a conversation. The default one keeps the recent messages and lists what was dropped; a model can do better.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { AgentError } from "../data/AgentError.ts"
import type { CompactionRequest, CompactionResult } from "../data/Compaction.ts"
import type { LlmParameters, LlmResponse } from "../data/LlmCall.ts"
import type { Message } from "../data/Message.ts"

/** What a compactor can use of the turn. @category models @since 0.1.0 */
export interface CompactorCapabilities {
  /** Asks the agent's model. What it costs counts like any other call. */
  readonly llm: (request: {
    readonly prompt: string | ReadonlyArray<Message>
    readonly instructions?: string
    readonly model?: string
    readonly provider?: string
    readonly parameters?: LlmParameters
  }) => Effect.Effect<LlmResponse, AgentError>
}

/** @category models @since 0.1.0 */
export interface Compactor {
  readonly compact: (
    request: CompactionRequest,
    capabilities: CompactorCapabilities
  ) => Effect.Effect<CompactionResult, unknown>
}
