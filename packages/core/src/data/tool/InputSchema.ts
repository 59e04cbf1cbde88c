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

/**
 * The type of the arguments that hooks and people see: what a schema encodes, with its defaults. See docs/tools.md.
 *
 * @category type-level
 * @since 0.2.0
 */
export type ShownOf<S> = S extends { readonly Type: infer A; readonly Encoded: infer I } ? WithDefaults<I, A>
  : S extends StandardSchemaV1 ? WithDefaults<StandardSchemaV1.InferInput<S>, StandardSchemaV1.InferOutput<S>>
  : JsonObject

/** A key that is optional in the input and always there in the output has a default, so it is always shown. */
type WithDefaults<I, A> = I extends object ? [Extract<A, object>] extends [never] ? I
  : I extends ReadonlyArray<unknown> ? ListWithDefaults<I, Extract<A, ReadonlyArray<unknown>>>
  : ObjectWithDefaults<I, Extract<A, object>>
  : I

type ListWithDefaults<I extends ReadonlyArray<unknown>, A extends ReadonlyArray<unknown>> = [A] extends [never] ? I
  : { [K in keyof I]: WithDefaults<I[K], K extends keyof A ? A[K] : A[number]> }

/** Mapped from the keys of `I`, so that other keys stay optional or read-only. */
type ObjectWithDefaults<I, A> = Flat<
  & { [K in keyof I as K extends DefaultKey<I, A> ? never : K]: WithDefaults<I[K], At<A, K>> }
  & { [K in keyof I as K extends DefaultKey<I, A> ? K : never]-?: WithDefaults<Exclude<I[K], undefined>, At<A, K>> }
>

type DefaultKey<I, A> = Exclude<OptionalKey<I> & keyof A, OptionalKey<A>>

type OptionalKey<A> = { [K in keyof A]-?: {} extends Pick<A, K> ? K : undefined extends A[K] ? K : never }[keyof A]

type At<A, K> = K extends keyof A ? A[K] : never

type Flat<A> = { [K in keyof A]: A[K] }
