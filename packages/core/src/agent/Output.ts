/**
 * Structured output: the schema that the answer of an agent must fit.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { ConfigError, OutputMismatch } from "../data/AgentError.ts"
import type { JsonObject } from "../data/Json.ts"
import type { LlmResponse } from "../data/LlmCall.ts"
import { assistant, user } from "../data/Message.ts"
import type { ObjectResult, RunResult } from "../guard/RunResult.ts"
import type { ObjectResponse, SideRequest } from "../hook/HookContext.ts"
import type { ArgsOf, InputSchema } from "./defineTool.ts"
import { readAnswerSchema } from "./internal/output/answerSchema.ts"

/**
 * Structured output: the answer must fit a schema. The model receives the schema, and the answer is decoded. An answer
 * that does not fit is sent back to the model together with the problems.
 *
 * @example
 * ```ts
 * import { createAgent } from "@belay/core"
 * import { textResponse } from "@belay/core/LlmCall"
 * import { fromPromise } from "@belay/core/LlmProvider"
 * import * as Schema from "effect/Schema"
 *
 * const provider = fromPromise({ name: "fixed", complete: async () => textResponse(`{"city":"Bern","degrees":21}`) })
 * const schema = Schema.Struct({ city: Schema.String, degrees: Schema.Finite })
 * const agent = createAgent({ provider, output: { schema } })
 * const result = await agent.run("How warm is it in Bern?")
 * if (result.status === "completed") console.log(result.object.degrees + 1)
 * ```
 * @category models
 * @since 0.1.0
 */
export interface Output<S extends InputSchema = InputSchema> {
  /**
   * The schema of an object: any Standard Schema (zod, valibot, arktype, ...), an Effect Schema, or plain JSON Schema.
   */
  readonly schema: S
  /** The JSON Schema of the answer. Required if the schema library cannot generate it. */
  readonly jsonSchema?: JsonObject
  /** The name of the schema in the request to the vendor. Default `answer`. */
  readonly name?: string
  /** Whether the vendor must enforce the schema. Vendors then support only a part of JSON Schema. */
  readonly strict?: boolean
  /**
   * How many times an answer that does not fit is sent back to the model. After that, the turn fails with an
   * `OutputMismatch`. Default 2.
   */
  readonly retries?: number
}

/**
 * The result of a run whose output has the schema `S`. `never` means that there is no output schema.
 *
 * @category type-level
 * @since 0.1.0
 */
export type ResultOf<S> = [S] extends [never] ? RunResult : InputSchema extends S ? RunResult : ObjectResult<ArgsOf<S>>

/**
 * Asks a model for an answer that fits the schema of the request, and decodes it. An answer that does not fit is sent
 * back once. For implementations of `ctx.llm`; `call` makes one call, and `what` is the caller, for messages. Without a
 * schema, it makes the call and decodes nothing.
 *
 * @category combinators
 * @since 0.1.0
 */
export const askForObject = Effect.fnUntraced(function*<E>(
  { jsonSchema, schema: input, ...request }: SideRequest,
  what: string,
  call: (request: SideRequest) => Effect.Effect<LlmResponse, E>
): Effect.fn.Return<LlmResponse | ObjectResponse, E | ConfigError | OutputMismatch> {
  if (input === undefined) return yield* call(request)
  const schema = yield* Effect.fromResult(
    readAnswerSchema({ schema: input, ...(jsonSchema === undefined ? {} : { jsonSchema }) }, what)
  )
  const parameters = { ...request.parameters, responseFormat: schema.responseFormat }
  const prompt = typeof request.prompt === "string" ? [user(request.prompt)] : request.prompt
  const first = yield* call({ ...request, prompt, parameters })
  // The hook has to run the tools before the model can answer.
  if (first.toolCalls.length > 0) return first
  const decoded = yield* Effect.result(schema.decode(first.text))
  if (decoded._tag === "Success") return withObject(first, decoded.success)
  const again = [...prompt, assistant(first.text), user(schema.feedback(decoded.failure.message))]
  const second = yield* call({ ...request, prompt: again, parameters })
  return withObject(second, yield* schema.decode(second.text))
})

// The schema has decoded the object.
const withObject = (response: LlmResponse, object: unknown): ObjectResponse => ({
  ...response,
  object: object as never
})
