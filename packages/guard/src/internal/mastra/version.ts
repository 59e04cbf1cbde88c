/** Models of the versions that Mastra takes, read as a model of the newest version, and back. */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  LanguageModelV4Usage
} from "@ai-sdk/provider"
import { collect, replay } from "../aiSdk/stream.ts"

/**
 * A model of any of the versions. The requests of all versions have the parts that hooks read, under the same names.
 */
export interface AnyModel {
  readonly specificationVersion: "v2" | "v3" | "v4"
  readonly provider: string
  readonly modelId: string
  readonly supportedUrls: unknown
  readonly doGenerate: (params: never) => PromiseLike<unknown>
  readonly doStream: (params: never) => PromiseLike<unknown>
}

interface OldUsage {
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly totalTokens?: number | undefined
  readonly reasoningTokens?: number | undefined
  readonly cachedInputTokens?: number | undefined
}

/** How a model answers with everything at once. Some models of Mastra answer with a stream there, too. */
type Generated = LanguageModelV4GenerateResult | LanguageModelV4StreamResult

/** Reads a model as one of the newest version. `prepare` changes its requests. */
export const newestOf = (
  given: AnyModel,
  prepare: (params: LanguageModelV4CallOptions) => LanguageModelV4CallOptions
): LanguageModelV4 => {
  const isOld = given.specificationVersion === "v2"
  const streamOf = (result: LanguageModelV4StreamResult): LanguageModelV4StreamResult =>
    isOld ? { ...result, stream: mapped(result.stream, raised) } : result
  return {
    specificationVersion: "v4",
    provider: given.provider,
    modelId: given.modelId,
    supportedUrls: given.supportedUrls as LanguageModelV4["supportedUrls"],
    doStream: async (params) => streamOf(await given.doStream(prepare(params) as never) as LanguageModelV4StreamResult),
    doGenerate: async (params) => {
      const result = await given.doGenerate(prepare(params) as never) as Generated
      if (!("content" in result)) return await collect(streamOf(result))
      return isOld ? { ...result, ...raised({ ...result, type: "finish" }), content: result.content } : result
    }
  }
}

/** Gives a model of the newest version the face of the one from which it was made. */
export const faceOf = <Model extends AnyModel>(given: Model, guarded: LanguageModelV4): Model => {
  const isOld = given.specificationVersion === "v2"
  const streamOf = (result: LanguageModelV4StreamResult) =>
    isOld ? { ...result, stream: mapped(result.stream, lowered) } : result
  const methods: { readonly [name: PropertyKey]: unknown } = {
    doStream: async (params: never) => streamOf(await guarded.doStream(params)),
    doGenerate: async (params: never) => {
      const result = await guarded.doGenerate(params)
      const shown = isOld ? { ...result, ...lowered({ ...result, type: "finish" }) } : result
      return { ...shown, ...streamOf({ stream: replay(result) }) }
    }
  }
  return new Proxy(given, {
    get: (target, name) => {
      if (Object.hasOwn(methods, name)) return methods[name]
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === "function" ? value.bind(target) as unknown : value
    }
  })
}

const mapped = (
  stream: ReadableStream<LanguageModelV4StreamPart>,
  map: (part: LanguageModelV4StreamPart) => unknown
): ReadableStream<LanguageModelV4StreamPart> =>
  stream.pipeThrough(
    new TransformStream({
      transform: (part, controller) => controller.enqueue(map(part) as LanguageModelV4StreamPart)
    })
  )

type Ended = { readonly type: string } & { readonly finishReason: unknown; readonly usage: unknown }

const raised = <Part extends { readonly type: string }>(part: Part): Part => {
  if (part.type !== "finish") return part
  const { finishReason, usage } = part as unknown as Ended
  const { cachedInputTokens, inputTokens, outputTokens, reasoningTokens } = Object(usage) as OldUsage
  const reason: LanguageModelV4FinishReason = {
    unified: finishReason === "unknown" ? "other" : finishReason as LanguageModelV4FinishReason["unified"],
    raw: undefined
  }
  const used: LanguageModelV4Usage = {
    inputTokens: { total: inputTokens, noCache: undefined, cacheRead: cachedInputTokens, cacheWrite: undefined },
    outputTokens: { total: outputTokens, text: undefined, reasoning: reasoningTokens }
  }
  return { ...part, finishReason: reason, usage: used }
}

const lowered = <Part extends { readonly type: string }>(part: Part): Part => {
  if (part.type !== "finish") return part
  const { finishReason, usage } = part as unknown as {
    readonly finishReason: LanguageModelV4FinishReason
    readonly usage: LanguageModelV4Usage
  }
  const { cacheRead, total: inputTokens } = usage.inputTokens
  const { reasoning, total: outputTokens } = usage.outputTokens
  const used: OldUsage = {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens === undefined || outputTokens === undefined ? undefined : inputTokens + outputTokens,
    reasoningTokens: reasoning,
    cachedInputTokens: cacheRead
  }
  return { ...part, finishReason: finishReason.unified, usage: used }
}
