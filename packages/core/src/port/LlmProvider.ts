/**
 * A language model. Implement `complete`, and also `stream` if the endpoint supports it.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { LlmDelta, LlmRequest, LlmResponse } from "../data/LlmCall.ts"
import { Connection, isProviderError, type ProviderError } from "../data/ProviderError.ts"
import type { Usage } from "../data/Usage.ts"
import type { Tokenizer } from "./Tokenizer.ts"

/**
 * Receives the deltas of a streamed answer. If it returns a promise, the provider awaits it before it reads more.
 *
 * @category models
 * @since 0.1.0
 */
export type DeltaSink = (delta: LlmDelta) => void | PromiseLike<void>

/**
 * A language model of a vendor. A provider makes one attempt per call and never retries, because the runtime decides
 * about retries. Interrupting the Effect cancels the call. All tool calls in a response must be complete; otherwise the
 * provider fails.
 *
 * @category models
 * @since 0.1.0
 */
export interface LlmProvider {
  /** Must be unique among the providers of an agent. */
  readonly name: string
  /** The model to use when a request names none. */
  readonly model?: string
  /**
   * The size of the model's window in tokens, if known. When compaction cannot make a request fit, the runtime chooses
   * a provider with a larger window.
   */
  readonly contextWindow?: number
  /**
   * Returns what a call costs in US dollars, or nothing if it does not know the price. Used for calls whose cost the
   * vendor does not report. Default: the cost is not known.
   */
  readonly costOf?: (usage: Usage, model: string) => number | undefined
  /** Counts tokens for its models. Default: four characters per token. */
  readonly tokenizer?: Tokenizer
  readonly complete: (request: LlmRequest) => Effect.Effect<LlmResponse, ProviderError>
  /** Streams a response: calls `sink` for every delta and succeeds with the whole response. */
  readonly stream?: (request: LlmRequest, sink: DeltaSink) => Effect.Effect<LlmResponse, ProviderError>
}

/** The provider as a service. @category services @since 0.1.0 */
export const LlmProvider = Context.Service<LlmProvider>("@belay/core/port/LlmProvider")

/**
 * Makes a provider from async functions. A rejection with a value that is not a `ProviderError` becomes a `Connection`
 * error.
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
