/**
 * Structured output: the schema that the answer of an agent must fit.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "../data/Json.ts"
import type { ArgsOf, InputSchema } from "./defineTool.ts"
import type { ObjectResult, RunResult } from "./RunResult.ts"

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
 * await using agent = createAgent({ provider, output: { schema } })
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
