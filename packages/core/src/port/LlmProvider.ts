/**
 * A language model. Implement `complete`, and also `stream` if the endpoint supports it.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { whyNoEffect } from "../data/effect/portEffect.ts"
import { copyError } from "../data/internal/copyError.ts"
import type { LlmDelta, LlmRequest, LlmResponse } from "../data/LlmCall.ts"
import { checkKinds, invalidOption, type OptionKinds } from "../data/option/OptionCheck.ts"
import { Connection, isProviderError, Malformed, type ProviderError } from "../data/ProviderError.ts"
import { messageOf } from "../data/text/ErrorMessage.ts"
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
 * Calls a provider: `stream` if there is a sink and the provider can stream, and `complete` otherwise. If the provider
 * throws, that is a `Connection` error; if it returns no Effect, a `Malformed` one.
 *
 * @category utilities
 * @since 0.1.0
 */
export const call = (
  provider: LlmProvider,
  request: LlmRequest,
  sink?: DeltaSink
): Effect.Effect<LlmResponse, ProviderError> => {
  // oxlint-disable-next-line belay/no-try -- a provider is foreign code, called once a step
  try {
    const returned = sink === undefined || provider.stream === undefined
      ? provider.complete(request)
      : provider.stream(request, sink)
    return Effect.isEffect(returned) ? returned : Effect.fail(noAnswer(provider.name, returned))
  } catch (error) {
    return Effect.fail(isProviderError(error) ? error : thrown(provider, error))
  }
}

/** A program without types may call this without a provider. */
const thrown = (provider: Partial<LlmProvider> | null | undefined, error: unknown): Connection =>
  new Connection({ provider: `${provider?.name}`, message: messageOf(error) })

const noAnswer = (provider: string, returned: unknown): Malformed => {
  const why = whyNoEffect(`provider ${provider}`, returned)
  return new Malformed({ provider, message: `${why}, or make the provider with LlmProvider.fromPromise` })
}

/** A piece of a streamed answer. Text alone counts as a delta of type `text`. @category models @since 0.1.0 */
export type Piece = string | LlmDelta

/**
 * The functions of `fromPromise`. At least one of `complete` and `stream` is required.
 *
 * @category models
 * @since 0.1.0
 */
export interface PromiseProvider
  extends Pick<LlmProvider, "name" | "model" | "contextWindow" | "costOf" | "tokenizer">
{
  /** Default: `stream`, whose pieces nobody reads. A response without `model` has the model that was asked for. */
  readonly complete?: (
    request: LlmRequest,
    signal: AbortSignal
  ) => PromiseLike<Omit<LlmResponse, "model"> & Partial<Pick<LlmResponse, "model">>>
  /**
   * An async generator: yields the pieces and returns the response. Fields that it does not return are made from the
   * pieces and from defaults, except `toolCalls`. The next piece is requested when the reader has taken the last one.
   * When the call is cancelled, `signal` aborts and the generator is closed.
   */
  readonly stream?: (
    request: LlmRequest,
    signal: AbortSignal
  ) => AsyncGenerator<Piece, Partial<LlmResponse> | void> | AsyncIterable<Piece>
}

/**
 * Makes a provider from async functions. A rejection with a value that is not a `ProviderError` becomes a `Connection`
 * error. Throws a `ConfigError` for options that it does not know.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import { fromPromise } from "@belay/core/LlmProvider"
 *
 * const provider = fromPromise({
 *   name: "counting",
 *   stream: async function*() {
 *     for (let n = 1; n <= 3; n++) yield `${n} `
 *     return { usage: { inputTokens: 10, outputTokens: 3 } }
 *   }
 * })
 * const agent = createAgent({ provider })
 * for await (const event of agent.stream("count")) {
 *   if (event.type === "text-delta") console.log(event.text)
 * }
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const fromPromise = (
  options: PromiseProvider & (Required<Pick<PromiseProvider, "complete">> | Required<Pick<PromiseProvider, "stream">>)
): LlmProvider => {
  Result.getOrThrow(checkKinds("fromPromise", options, optionKinds, ["name"]))
  const { complete, stream, ...rest } = options
  if (complete === undefined && stream === undefined) {
    Result.getOrThrow(invalidOption("fromPromise.complete", "give complete, stream, or both"))
  }
  const run = (act: (signal: AbortSignal, heard: Heard) => PromiseLike<LlmResponse>) =>
    Effect.suspend(() => {
      const heard: Heard = { text: "", reasoning: "", hasToolCalls: false }
      return Effect.tryPromise({
        try: (signal) => act(signal, heard),
        catch: (error) => errorOf(options.name, error, heard)
      })
    })
  const streamed = (request: LlmRequest, sink: DeltaSink) =>
    run((signal, heard) => readStream(options, request, { signal, sink, heard }))
  return {
    ...rest,
    complete: (request) =>
      complete === undefined
        ? streamed(request, () => {})
        : run(async (signal) =>
          withModel(await complete(request, signal), request.model ?? options.model ?? options.name)
        ),
    ...(stream === undefined ? {} : { stream: streamed })
  }
}

const optionKinds: OptionKinds<PromiseProvider> = {
  name: "text",
  model: "text",
  contextWindow: "number",
  costOf: "function",
  tokenizer: "object",
  complete: "function",
  stream: "function"
}

/** Adds the model. A program without types can return anything, which the runtime checks. */
const withModel = (response: Omit<LlmResponse, "model"> & Partial<Pick<LlmResponse, "model">>, model: string) =>
  // A response with a model is whole.
  typeof response !== "object" || response === null || "model" in response
    ? response as LlmResponse
    : { ...response, model }

/** What was read of a stream so far. */
interface Heard {
  text: string
  reasoning: string
  hasToolCalls: boolean
}

/** Whoever counts or repeats the call must know that a part of its answer had arrived, whatever error ended it. */
const errorOf = (provider: string, thrown: unknown, { text }: Heard): ProviderError => {
  const error = isProviderError(thrown) ? thrown : new Connection({ provider, message: messageOf(thrown) })
  return text === "" || error.partial !== undefined ? error : copyError(error, { partial: { text } })
}

const readStream = async (
  { model, name, stream }: PromiseProvider,
  request: LlmRequest,
  { heard, signal, sink }: { readonly signal: AbortSignal; readonly sink: DeltaSink; readonly heard: Heard }
): Promise<LlmResponse> => {
  const pieces: Partial<AsyncIterable<Piece>> = stream!(request, signal)
  const iterator = pieces[Symbol.asyncIterator]?.()
  if (iterator === undefined) {
    return Promise.reject(malformed(name, "stream must be an async generator: async function*() { ... }"))
  }
  const close = async () => iterator.return?.()
  const cancel = () => void close().catch(() => {})
  signal.addEventListener("abort", cancel, { once: true })
  while (!signal.aborted) {
    const { done, value } = await iterator.next()
    if (done === true) {
      if (!heard.hasToolCalls || value?.toolCalls !== undefined) {
        return responseOf(request.model ?? model ?? name, heard, value ?? {})
      }
      return Promise.reject(malformed(name, "it yielded pieces of tool calls: return the whole calls as toolCalls"))
    }
    const delta: Partial<LlmDelta> | undefined = typeof value === "string" ? { type: "text", text: value } : value
    if (!isDelta(delta)) {
      cancel()
      return Promise.reject(malformed(name, "it yielded something else than text and deltas such as { type, text }"))
    }
    if (delta.type === "tool-call") heard.hasToolCalls = true
    else heard[delta.type] += delta.text
    const taken = signal.aborted ? undefined : sink(delta)
    if (taken !== undefined) await taken
  }
  // The call was cancelled, so nobody reads this.
  return responseOf(name, heard, {})
}

const malformed = (provider: string, why: string): Malformed =>
  new Malformed({ provider, message: `the stream of ${provider} is not an answer: ${why}` })

const isDelta = (delta: Partial<LlmDelta> | undefined): delta is LlmDelta =>
  delta?.type === "tool-call" ||
  ((delta?.type === "text" || delta?.type === "reasoning") && typeof delta.text === "string")

const responseOf = (model: string, { reasoning, text }: Heard, given: Partial<LlmResponse>): LlmResponse => ({
  model,
  text,
  toolCalls: [],
  finishReason: given.toolCalls === undefined || given.toolCalls.length === 0 ? "stop" : "tool-calls",
  ...(reasoning === "" ? {} : { reasoning }),
  ...given
})
