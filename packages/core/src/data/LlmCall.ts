/**
 * One call to a language model: the request, the deltas while it streams, the response, and what to do when it fails.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { JsonObject } from "./Json.ts"
import { type Message, ProviderMetadata, ToolCall } from "./Message.ts"
import type { ToolMeta } from "./Tool.ts"
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

/** How to answer; absent fields mean the vendor's defaults. @category models @since 0.1.0 */
export interface LlmParameters {
  readonly temperature?: number
  readonly topP?: number
  /** Most tokens the model may write. */
  readonly maxTokens?: number
  readonly stop?: ReadonlyArray<string>
  readonly seed?: number
  readonly toolChoice?: "auto" | "none" | "required" | { readonly tool: string }
  readonly parallelToolCalls?: boolean
  readonly reasoningEffort?: "none" | "minimal" | "low" | "medium" | "high" | (string & {})
  /** What the text of the answer must be: JSON that fits a schema. */
  readonly responseFormat?: ResponseFormat
  /** Sent as it is, beside the standard fields. */
  readonly extra?: JsonObject
}

/**
 * JSON Schema of an answer. However a provider gets there, the text of its response is the JSON.
 *
 * @category models
 * @since 0.1.0
 */
export interface ResponseFormat {
  readonly name: string
  readonly schema: JsonObject
  /** Whether the vendor must enforce the schema; vendors then take only a part of JSON Schema. */
  readonly strict?: boolean
}

/** The answer of a model, with complete tool calls only. @category models @since 0.1.0 */
export interface LlmResponse extends Schema.Schema.Type<typeof LlmResponse> {}
/** @category schemas @since 0.1.0 */
export const LlmResponse = Schema.Struct({
  /** The model that answered, as the vendor names it. */
  model: Schema.String,
  text: Schema.String,
  toolCalls: Schema.Array(ToolCall),
  finishReason: FinishReason,
  /** Absent when the vendor did not say; absent is never zero. */
  usage: Schema.optionalKey(Usage),
  reasoning: Schema.optionalKey(Schema.String),
  /** The text with which the model refused, when the vendor marks it. */
  refusal: Schema.optionalKey(Schema.String),
  /** What must go back to the vendor with the next request. */
  metadata: Schema.optionalKey(ProviderMetadata)
})

/** Makes a response of text. @category constructors @since 0.1.0 */
export const textResponse = (text: string, model = "none"): LlmResponse => ({
  model,
  text,
  toolCalls: [],
  finishReason: "stop"
})

/** An answered LLM call: what `postLlmCall` hooks receive. @category models @since 0.1.0 */
export interface PostLlmCallEvent {
  readonly request: LlmRequest
  readonly response: LlmResponse
  /** Name of the provider that answered; the hook's name when a hook did. */
  readonly provider: string
  /** Counts from 1 over retries and fallbacks of this call. */
  readonly attempt: number
  /** False when a hook answered for the model (`Respond`). */
  readonly executed: boolean
}

/**
 * A piece of a streamed answer. Tool-call pieces are for display: only complete calls are acted on.
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
  /** Go on with another provider (by name), another model, or both. */
  | { readonly type: "fallback"; readonly provider?: string; readonly model?: string }
  | { readonly type: "fail" }
