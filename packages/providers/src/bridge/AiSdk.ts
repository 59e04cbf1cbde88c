/**
 * Uses models of the Vercel AI SDK as providers.
 *
 * @since 0.1.0
 */
import type { LlmRequest, LlmResponse, ResponseFormat } from "@belay/core/LlmCall"
import type { DeltaSink, LlmProvider } from "@belay/core/LlmProvider"
import { checkKinds, checkObject, type OptionKinds } from "@belay/core/OptionCheck"
import { NotFound, type ProviderError } from "@belay/core/ProviderError"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import { isObject } from "../openai/internal/request/guards.ts"
import * as Errors from "../openai/internal/response/errors.ts"
import * as Answer from "./internal/aiSdkAnswer.ts"
import * as AiSdkErrors from "./internal/aiSdkErrors.ts"
import { callOptions } from "./internal/aiSdkPrompt.ts"
import { inWords } from "./internal/format.ts"

/**
 * The part of a model that Belay uses. Versions 2, 3 and 4 of `LanguageModel` in `@ai-sdk/provider` have it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Model {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  /** The options differ between versions. Only the adapter calls it. */
  readonly doGenerate: (options: never) => PromiseLike<unknown>
  readonly doStream: (options: never) => PromiseLike<{ readonly stream: ReadableStream }>
}

/** Options of `fromLanguageModel`. @category models @since 0.1.0 */
export interface Options {
  /** Name of the provider in an agent. Default: the `provider` of the model. */
  readonly name?: string
}

/**
 * Creates a provider from a model. It makes one attempt per call, like all providers.
 *
 * `parameters.extra` of a request becomes `providerOptions` of the model, so its keys are names of vendors. A request
 * for another model fails with `NotFound`. A `responseFormat` is passed to the model and also written in the
 * instructions, because not every model follows it.
 *
 * @example
 * ```ts
 * import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
 * import { createAgent } from "@belay/core/createAgent"
 * import * as AiSdk from "@belay/providers/AiSdk"
 *
 * const vendor = createOpenAICompatible({ name: "vendor", baseURL: "http://localhost:8080/v1" })
 * const agent = createAgent({ provider: AiSdk.fromLanguageModel(vendor.languageModel("large-1")) })
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const fromLanguageModel = (model: Model, options: Options = {}): LlmProvider => {
  Result.getOrThrow(checkKinds("AiSdk.fromLanguageModel", options, { name: "text" } satisfies OptionKinds<Options>))
  Result.getOrThrow(checkObject("AiSdk.fromLanguageModel", model, "a model of the AI SDK"))
  const { modelId, specificationVersion: version } = model
  const name = options.name ?? model.provider
  const source: Errors.Source = { provider: name, model: modelId, secrets: [] }

  const call = <A>(
    request: LlmRequest,
    format: ResponseFormat | undefined,
    method: (given: never) => PromiseLike<A>,
    use: (given: A, answer: Answer.Assembler) => Effect.Effect<void, ProviderError>
  ): Effect.Effect<LlmResponse, ProviderError> =>
    Effect.suspend(() => {
      if (request.model !== undefined && request.model !== modelId) {
        return Effect.fail(otherModel(source, request.model))
      }
      const answer = Answer.make(request, name, modelId)
      return Effect.acquireUseRelease(
        Effect.sync(() => new AbortController()),
        ({ signal }) =>
          Effect.tryPromise({
            // A cast is needed, because the type of the options depends on the version of the model.
            try: () => method.call(model, callOptions(request, { provider: name, version, format }, signal) as never),
            catch: (error) => AiSdkErrors.classify(source, error)
          }).pipe(
            Effect.flatMap((given) => use(given, answer)),
            Effect.flatMap(() => Answer.settle(source, answer))
          ),
        (controller, exit) => Effect.sync(() => Exit.isSuccess(exit) ? undefined : controller.abort())
      )
    })

  const send = (request: LlmRequest, sink: DeltaSink | undefined) => {
    const format = request.parameters.responseFormat
    return inWords(request, sink, (worded, pipe) =>
      pipe === undefined
        ? call(worded, format, model.doGenerate, (given, answer) => Effect.sync(() => pushWhole(given, answer)))
        : call(worded, format, model.doStream, (given, answer) =>
          isStreaming(given) ? readAll(source, given.stream, answer, pipe) : Effect.void))
  }
  return { name, model: modelId, complete: (request) => send(request, undefined), stream: send }
}

/** The types guarantee an answer. A model that breaks them has none. */
const isStreaming = (given: unknown): given is { readonly stream: ReadableStream } =>
  isObject(given) && isObject(given.stream) && typeof given.stream.getReader === "function"

const pushWhole = (given: unknown, answer: Answer.Assembler): void => {
  if (!isObject(given)) return
  if (isObject(given.response)) answer.push({ ...given.response, type: "response-metadata" })
  for (const part of Array.isArray(given.content) ? given.content : []) answer.push(part)
  answer.push({ type: "finish", finishReason: given.finishReason, usage: given.usage })
}

const readAll = (source: Errors.Source, stream: ReadableStream, answer: Answer.Assembler, sink: DeltaSink) =>
  Effect.acquireUseRelease(
    Effect.sync(() => stream.getReader()),
    Effect.fnUntraced(function*(reader) {
      while (true) {
        const { done, value }: { readonly done: boolean; readonly value?: unknown } = yield* Effect.tryPromise({
          try: () => reader.read(),
          catch: (error) => AiSdkErrors.classify(source, error, answer.partial())
        })
        if (done) return
        if (isObject(value) && value.type === "error") {
          return yield* AiSdkErrors.classify(source, value.error, answer.partial())
        }
        const delta = answer.push(value)
        const wait = delta === undefined ? undefined : sink(delta)
        if (wait !== undefined) yield* Effect.promise(() => wait)
      }
    }),
    (reader, exit) => Effect.sync(() => Exit.isSuccess(exit) ? undefined : void reader.cancel().catch(() => {}))
  )

const otherModel = ({ model, provider }: Errors.Source, asked: string): NotFound =>
  new NotFound({ provider, model: asked, message: `${provider} has the model ${model} only, not ${asked}` })
