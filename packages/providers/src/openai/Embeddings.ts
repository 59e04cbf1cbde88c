/**
 * Embeddings of endpoints with OpenAI's API: texts become vectors, which are close to each other if the texts mean
 * similar things.
 *
 * @since 0.1.0
 */
import * as Awaitable from "@belay/core/Awaitable"
import { checkKinds, type OptionKinds } from "@belay/core/OptionCheck"
import { Malformed, type ProviderError } from "@belay/core/ProviderError"
import * as UsageOf from "@belay/core/Usage"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { accessKinds, accessOf, type AccessOptions } from "./internal/access.ts"
import * as Ask from "./internal/ask.ts"
import { isObject } from "./internal/request/guards.ts"
import { stringify } from "./internal/request/message.ts"
import { readUsage } from "./internal/response/usage.ts"
import { readVectors } from "./internal/response/vectors.ts"

/** A model that turns texts into vectors. @category models @since 0.1.0 */
export interface EmbeddingModel {
  readonly name: string
  readonly model: string
  /**
   * Returns a vector for each text, in the same order. It can be awaited, and it is an Effect. It makes one attempt and
   * fails with a `ProviderError`.
   */
  readonly embed: (texts: ReadonlyArray<string>) => Awaitable.Awaitable<Embedded, ProviderError>
}

/** The vectors of some texts. @category models @since 0.1.0 */
export interface Embedded {
  readonly vectors: ReadonlyArray<ReadonlyArray<number>>
  /** Absent when the vendor did not report it. */
  readonly usage?: UsageOf.Usage
}

/** Options of `make`. @category models @since 0.1.0 */
export interface Options extends AccessOptions {
  readonly model: string
  /** Length of the vectors, if the model has a choice. */
  readonly dimensions?: number
  /** The number of texts in one request. More texts are sent in several requests, one after another. Default 100. */
  readonly batchSize?: number
  /** Time limit for each request in milliseconds. Default 60 s. */
  readonly timeoutMs?: number
}

const optionKinds: OptionKinds<Options> = {
  ...accessKinds,
  model: "text",
  dimensions: "number",
  batchSize: "number",
  timeoutMs: "number"
}

/**
 * Creates an embedding model.
 *
 * @example
 * ```ts
 * import * as Embeddings from "@belay/providers/Embeddings"
 *
 * const embeddings = Embeddings.make({ baseUrl: "http://localhost:11434/v1", model: "nomic-embed-text" })
 * const distance = async () => {
 *   const { vectors: [a = [], b = []] } = await embeddings.embed(["a cat", "a kitten"])
 *   return Math.hypot(...a.map((value, at) => value - (b[at] ?? 0)))
 * }
 * ```
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): EmbeddingModel => {
  Result.getOrThrow(checkKinds("Embeddings", options, optionKinds, ["model"]))
  const { batchSize = 100, dimensions, model, timeoutMs = 60_000 } = options
  const size = Math.max(1, batchSize)
  const { name } = accessOf(options)
  const ask = Ask.make(options, "/embeddings", "POST", timeoutMs)
  const fields = { model, encoding_format: "float", ...(dimensions === undefined ? {} : { dimensions }) }
  const embedBatch = Effect.fnUntraced(function*(input: ReadonlyArray<string>) {
    const answer = yield* ask(stringify({ ...fields, input }), model)
    const vectors = readVectors(answer, input.length)
    if (typeof vectors === "string") {
      return yield* new Malformed({ provider: name, model, message: `${name} sent invalid vectors: ${vectors}` })
    }
    return { vectors, usage: readUsage(isObject(answer) ? answer.usage : undefined) }
  })
  const embed = Effect.fnUntraced(function*(texts: ReadonlyArray<string>) {
    const vectors: Array<ReadonlyArray<number>> = []
    let usage: UsageOf.Usage | undefined
    for (let at = 0; at < texts.length; at += size) {
      const batch = yield* embedBatch(texts.slice(at, at + size))
      vectors.push(...batch.vectors)
      if (batch.usage !== undefined) usage = UsageOf.add(usage ?? UsageOf.zero, batch.usage)
    }
    const embedded: Embedded = { vectors, ...(usage === undefined ? {} : { usage }) }
    return embedded
  })
  return { name, model, embed: (texts) => Awaitable.make(embed(texts)) }
}
