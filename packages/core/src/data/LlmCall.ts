/**
 * One call to a language model: the request, the deltas while it streams, the response, and what to do when it fails.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { JsonObject } from "./Json.ts"
import { type Message, ProviderMetadata, ToolCall } from "./Message.ts"
import type { ToolMeta } from "./tool/Tool.ts"
import { FinishReason } from "./Turn.ts"
import { Usage } from "./Usage.ts"

/** A request to a model. @category models @since 0.1.0 */
export interface LlmRequest {
  /** Model id; absent means the provider's default. */
  readonly model?: string
  /** The system prompt. */
  readonly instructions?: string
  readonly messages: ReadonlyArray<Message>
  readonly tools: ReadonlyArray<ToolMeta>
  readonly parameters: LlmParameters
}

/** Parameters of the answer. For absent fields, the vendor's defaults apply. @category models @since 0.1.0 */
export interface LlmParameters {
  readonly temperature?: number
  readonly topP?: number
  /** The maximum number of tokens that the model may write. */
  readonly maxTokens?: number
  readonly stop?: ReadonlyArray<string>
  readonly seed?: number
  readonly toolChoice?: "auto" | "none" | "required" | { readonly tool: string }
  readonly parallelToolCalls?: boolean
  readonly reasoningEffort?: "none" | "minimal" | "low" | "medium" | "high" | (string & {})
  /** Requires the text of the answer to be JSON that fits a schema. */
  readonly responseFormat?: ResponseFormat
  /** Vendor-specific fields. They are sent unchanged, together with the standard fields. */
  readonly extra?: JsonObject
}

/**
 * The JSON Schema of an answer. A provider may use any method, but the text of its response must be the JSON.
 *
 * @category models
 * @since 0.1.0
 */
export interface ResponseFormat {
  readonly name: string
  readonly schema: JsonObject
  /** Whether the vendor must enforce the schema. Vendors then support only a part of JSON Schema. */
  readonly strict?: boolean
}

/** The answer of a model. Its tool calls are complete. @category models @since 0.1.0 */
export interface LlmResponse extends Schema.Schema.Type<typeof LlmResponse> {}
/** @category schemas @since 0.1.0 */
export const LlmResponse = Schema.Struct({
  /** The vendor's id of the response. */
  id: Schema.optionalKey(Schema.String),
  /** The vendor's name of the model that answered. */
  model: Schema.String,
  text: Schema.String,
  toolCalls: Schema.Array(ToolCall),
  finishReason: FinishReason,
  /** Absent when the vendor did not report it. Absent does not mean zero. */
  usage: Schema.optionalKey(Usage),
  reasoning: Schema.optionalKey(Schema.String),
  /** The text with which the model refused to answer, if the vendor marks refusals. */
  refusal: Schema.optionalKey(Schema.String),
  /** Data of the vendor that must be sent back with the next request. */
  metadata: Schema.optionalKey(ProviderMetadata)
})

/** Makes a response that consists of text. @category constructors @since 0.1.0 */
export const textResponse = (text: string, model = "none"): LlmResponse => ({
  model,
  text,
  toolCalls: [],
  finishReason: "stop"
})

/** A finished LLM call: what `postLlmCall` hooks receive. @category models @since 0.1.0 */
export interface PostLlmCallEvent {
  readonly request: LlmRequest
  readonly response: LlmResponse
  /** The name of the provider that answered, or of the hook when a hook answered. */
  readonly provider: string
  /** The number of the attempt, from 1. Retries and fallbacks of this call count. */
  readonly attempt: number
  /** False when a hook answered for the model (`Respond`). */
  readonly executed: boolean
}

/**
 * A piece of a streamed answer. Pieces of tool calls are for display only; tools run when their call is complete.
 *
 * @category models
 * @since 0.1.0
 */
export type LlmDelta =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "tool-call"; readonly id: string; readonly name: string; readonly argsText: string }

/** What to do about a failed LLM call. @category models @since 0.1.0 */
export type RetryDecision =
  | { readonly type: "retry"; readonly delayMs: number }
  /** Continues with another provider (by name), another model, or both. */
  | { readonly type: "fallback"; readonly provider?: string; readonly model?: string }
  | { readonly type: "fail" }
