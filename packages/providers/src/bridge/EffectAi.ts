/**
 * Uses models of `effect/ai` as providers, and providers as models of `effect/ai`. That module of Effect is not stable
 * yet, so this one is not stable either.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "@belay/core/Json"
import type { LlmParameters, LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import { call, type DeltaSink, type LlmProvider } from "@belay/core/LlmProvider"
import { checkKinds, type OptionKinds } from "@belay/core/OptionCheck"
import { NotFound, type ProviderError } from "@belay/core/ProviderError"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Response from "effect/ai/Response"
import * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { isObject } from "../openai/internal/request/guards.ts"
import * as Errors from "../openai/internal/response/errors.ts"
import * as Answer from "./internal/aiSdkAnswer.ts"
import { fromAiError, toAiError } from "./internal/effectErrors.ts"
import { streamer, toAiSdkPart, whole } from "./internal/effectParts.ts"
import { fromPrompt, toPrompt } from "./internal/effectPrompt.ts"
import { inWords } from "./internal/format.ts"

/** Options of `fromLanguageModel`. @category models @since 0.1.0 */
export interface Options {
  /** Name of the provider in an agent. Default `effect-ai`. */
  readonly name?: string
  /** Id of the model, because `effect/ai` does not provide it. A request for another model fails with `NotFound`. */
  readonly model?: string
}

const optionKinds: OptionKinds<Options> = { name: "text", model: "text" }

/**
 * Creates a provider from a model of `effect/ai`. The runtime runs the tools, not the model. Only the parameters
 * `toolChoice` and `responseFormat` (as text) reach the model, because `effect/ai` sets the others when the model is
 * created.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromLanguageModel = (model: LanguageModel.LanguageModel, options: Options = {}): LlmProvider => {
  Result.getOrThrow(checkKinds("EffectAi.fromLanguageModel", options, optionKinds))
  const { model: modelId, name = "effect-ai" } = options
  const source: Errors.Source = { provider: name, model: modelId, secrets: [] }
  // A cast is needed: the types of the options depend on the tools, which are known only at run time.
  const { generateText, streamText } = model as unknown as Dynamic

  const call = (
    request: LlmRequest,
    use: (given: object, answer: Answer.Assembler) => Effect.Effect<unknown, AiError.AiError>
  ): Effect.Effect<LlmResponse, ProviderError> =>
    Effect.suspend(() => {
      if (request.model !== undefined && request.model !== modelId) return Effect.fail(otherModel(name, request.model))
      const answer = Answer.make(request, name, modelId ?? name)
      return use(callOptions(request, name), answer).pipe(
        Effect.mapError((error) => fromAiError(source, error, answer.partial())),
        Effect.flatMap(() => Answer.settle(source, answer))
      )
    })

  const takeAll = (parts: Stream.Stream<unknown, AiError.AiError>, answer: Answer.Assembler, sink: DeltaSink) =>
    Stream.runForEach(parts, (part): Effect.Effect<void, AiError.AiError> => {
      // An error inside a stream is one of its parts. It is converted together with the other errors.
      if (isObject(part) && part.type === "error") return Effect.fail(part.error as AiError.AiError)
      const delta = answer.push(toAiSdkPart(part))
      const wait = delta === undefined ? undefined : sink(delta)
      return wait === undefined ? Effect.void : Effect.promise(() => wait)
    })

  const send = (request: LlmRequest, sink: DeltaSink | undefined) =>
    inWords(request, sink, (worded, pipe) =>
      call(worded, (given, answer) =>
        pipe === undefined
          ? Effect.map(generateText(given), ({ content }) => {
            for (const part of content) answer.push(toAiSdkPart(part))
          })
          : takeAll(streamText(given), answer, pipe)))
  return {
    name,
    ...(modelId === undefined ? {} : { model: modelId }),
    complete: (request) => send(request, undefined),
    stream: send
  }
}

/**
 * Creates a model of `effect/ai` from a provider, for `LanguageModel.generateText`, `streamText`, toolkits and chats.
 * The schema of `generateObject` becomes the `responseFormat` of the request.
 *
 * @example
 * ```ts
 * import * as EffectAi from "@belay/providers/EffectAi"
 * import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
 * import * as LanguageModel from "effect/ai/LanguageModel"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const provider = OpenAiCompatible.make({ baseUrl: "http://localhost:8080/v1", model: "large-1" })
 * const layer = Layer.effect(LanguageModel.LanguageModel, EffectAi.toLanguageModel(provider))
 * const haiku = LanguageModel.generateText({ prompt: "Write a haiku" }).pipe(Effect.provide(layer))
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const toLanguageModel = (provider: LlmProvider): Effect.Effect<LanguageModel.LanguageModel> =>
  LanguageModel.make({
    generateText: Effect.fnUntraced(function*(options) {
      const request = yield* requestOf(options)
      return whole(yield* Effect.mapError(call(provider, request), toAiError("generateText")))
    }),
    streamText: (options) =>
      Stream.callback<Response.StreamPartEncoded, AiError.AiError>(
        Effect.fnUntraced(function*(queue) {
          const request = yield* requestOf(options)
          const parts = streamer()
          const sink: DeltaSink = (delta) => void Queue.offerAllUnsafe(queue, parts.delta(delta))
          const answer = call(provider, request, sink)
          const response = yield* Effect.mapError(answer, toAiError("streamText"))
          yield* Queue.offerAll(queue, parts.end(response))
          yield* Queue.end(queue)
        }),
        { bufferSize: Number.POSITIVE_INFINITY }
      )
  })

interface Dynamic {
  readonly generateText: (
    options: object
  ) => Effect.Effect<{ readonly content: ReadonlyArray<unknown> }, AiError.AiError>
  readonly streamText: (options: object) => Stream.Stream<unknown, AiError.AiError>
}

const callOptions = (request: LlmRequest, name: string): object => {
  const { toolChoice = "auto" } = request.parameters
  const prompt = toPrompt(request, name)
  if (request.tools.length === 0) return { prompt, disableToolCallResolution: true, toolCallValidation: "deferred" }
  const tools = Object.fromEntries(request.tools.map(({ description, inputSchema, name: tool }) => [
    tool,
    Tool.dynamic(tool, { description, parameters: inputSchema })
  ]))
  const toolkit: Toolkit.WithHandler<typeof tools> = {
    tools,
    handle: (tool) => Effect.die(new Error(`the runtime must run the tool ${tool}, not the model`))
  }
  return { prompt, toolkit, toolChoice, disableToolCallResolution: true, toolCallValidation: "deferred" }
}

const requestOf = Effect.fnUntraced(
  function*({ prompt, responseFormat, toolChoice, tools }: LanguageModel.ProviderOptions) {
    const foreign = tools.find(Tool.isProviderDefined)
    if (foreign !== undefined) {
      const why = { toolName: foreign.name, description: "a tool that the vendor runs cannot be used through Belay" }
      return yield* AiError.make({
        module: "belay",
        method: "generateText",
        reason: new AiError.ToolConfigurationError(why)
      })
    }
    const format = responseFormat.type === "json"
      ? { responseFormat: { name: responseFormat.objectName, schema: schemaOf(responseFormat.schema) } }
      : {}
    const request: LlmRequest = {
      ...fromPrompt(prompt),
      tools: tools.map((tool) => ({
        name: tool.name,
        description: Tool.getDescription(tool) ?? "",
        // A JSON Schema is JSON.
        inputSchema: Tool.getJsonSchema(tool) as JsonObject
      })),
      parameters: { ...format, ...(tools.length === 0 ? {} : { toolChoice: choiceOf(toolChoice) }) }
    }
    return request
  }
)

// A JSON Schema is JSON.
const schemaOf = (schema: Schema.Top): JsonObject => Tool.getJsonSchemaFromSchema(schema) as JsonObject

const choiceOf = (choice: LanguageModel.ToolChoice<string>): NonNullable<LlmParameters["toolChoice"]> => {
  if (typeof choice === "string" || "tool" in choice) return choice
  const [only, ...more] = choice.oneOf
  return choice.mode === "required" && only !== undefined && more.length === 0 ? { tool: only } : choice.mode ?? "auto"
}

const otherModel = (provider: string, model: string): NotFound =>
  new NotFound({ provider, model, message: `${provider} has no model named ${model}` })
