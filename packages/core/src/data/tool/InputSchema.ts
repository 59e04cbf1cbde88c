/**
 * Schemas that users pass: of the arguments of a tool, and of answers.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import type { JsonObject } from "../Json.ts"

/**
 * A schema: any Standard Schema (zod, valibot, arktype, ...), an Effect Schema, or plain JSON Schema.
 *
 * @category models
 * @since 0.1.0
 */
export type InputSchema = StandardSchemaV1 | Schema.Top | JsonObject

/** The type of the values that a schema decodes. @category type-level @since 0.1.0 */
export type ArgsOf<S> = S extends { readonly Type: infer A } ? A
  : S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S>
  : JsonObject
