/**
 * A language model behind plain data. Implement `complete`, and `stream` where the endpoint can.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { LlmDelta, LlmRequest, LlmResponse } from "../data/LlmCall.ts"
import { Connection, isProviderError, type ProviderError } from "../data/ProviderError.ts"
import type { Tokenizer } from "./Tokenizer.ts"

/** Receives deltas as they come. A returned promise is awaited before more is read. @category models @since 0.1.0 */
export type DeltaSink = (delta: LlmDelta) => void | PromiseLike<void>

/**
 * A provider does one attempt per call and never retries: that is the runtime's to decide.
 * Cancellation is interruption of the Effect. Tool calls in a response are complete, or the response is an error.
 *
 * @category models
 * @since 0.1.0
 */
export interface LlmProvider {
  /** Unique among the providers of an agent. */
  readonly name: string
  /** The model that answers when a request names none. */
  readonly model?: string
  /** Tokens its model can read, where known: an overflow that compaction does not cure goes to a larger one. */
  readonly contextWindow?: number
  /** Counts for its models better than the default, which takes four characters for a token. */
  readonly tokenizer?: Tokenizer
  readonly complete: (request: LlmRequest) => Effect.Effect<LlmResponse, ProviderError>
  /** Calls `sink` for every delta and succeeds with the assembled response. */
  readonly stream?: (request: LlmRequest, sink: DeltaSink) => Effect.Effect<LlmResponse, ProviderError>
}

/** The provider as a service. @category services @since 0.1.0 */
export const LlmProvider = Context.Service<LlmProvider>("@belay/core/port/LlmProvider")

/**
 * Makes a provider from async functions. A rejection that is not a `ProviderError` becomes `Connection`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromPromise = (options: {
  readonly name: string
  readonly model?: string
  readonly complete: (request: LlmRequest, signal: AbortSignal) => PromiseLike<LlmResponse>
}): LlmProvider => ({
  name: options.name,
  ...(options.model === undefined ? {} : { model: options.model }),
  complete: (request) =>
    Effect.tryPromise({
      try: (signal) => options.complete(request, signal),
      catch: (error) =>
        isProviderError(error)
          ? error
          : new Connection({ provider: options.name, message: error instanceof Error ? error.message : String(error) })
    })
})
