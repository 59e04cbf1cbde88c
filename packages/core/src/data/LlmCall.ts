/**
 * One call to a language model: the request, the deltas while it streams, the response, and what to do when it fails.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { JsonObject } from "./Json.ts"
import { Citation, FilePart, JsonValue, type Message, ProviderMetadata, ToolCall } from "./Message.ts"
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
  /** Whether to ask for the reasoning of the model, or a summary of it. Default: what the vendor does by itself. */
  readonly reasoningSummary?: boolean
  /**
   * Whether the vendor may keep the beginning of the request in a cache, so that the next request with the same
   * beginning costs less. `"1h"` asks for an hour where the vendor has a choice. Some vendors always do it.
   */
  readonly promptCache?: boolean | "1h"
  /** Tools that the vendor runs. Policies and hooks see neither their calls nor their results. */
  readonly hostedTools?: ReadonlyArray<HostedTool>
  /**
   * How many alternatives of each token to report, with their probabilities. 0 reports the tokens of the answer only.
   */
  readonly logprobs?: number
  /** What the answer may consist of. Default: text. */
  readonly outputs?: ReadonlyArray<"text" | "image" | "audio">
  /** Voice and format of an answer in sound. Default: `alloy`, and `wav`, or `pcm16` in a stream. */
  readonly audio?: { readonly voice?: string; readonly format?: string }
  /** Labels that the vendor stores with the request, for example for its dashboard. */
  readonly metadata?: { readonly [name: string]: string }
  /** HTTP headers of this request. They count before those of the provider. */
  readonly headers?: { readonly [name: string]: string }
  /** Requires the text of the answer to be JSON that fits a schema. */
  readonly responseFormat?: ResponseFormat
  /** Vendor-specific fields. They are sent unchanged, together with the standard fields. */
  readonly extra?: JsonObject
}

/**
 * A tool that the vendor runs while it answers:
 * - `web-search` searches the web, or only `domains`
 * - `file-search` searches files that were uploaded to `stores` of the vendor
 * - `code-interpreter` runs code in a container of the vendor
 * - `mcp` calls tools of a server that the vendor connects to; `tools` limits them
 * - `tool-search` finds the definitions of tools of the request with `deferred`; the agent runs these tools as others
 *
 * @category models
 * @since 0.1.0
 */
export type HostedTool =
  | { readonly type: "web-search"; readonly domains?: ReadonlyArray<string> }
  | { readonly type: "file-search"; readonly stores: ReadonlyArray<string>; readonly maxResults?: number }
  | { readonly type: "code-interpreter" }
  | {
    readonly type: "mcp"
    readonly name: string
    readonly url: string
    readonly headers?: { readonly [name: string]: string }
    readonly tools?: ReadonlyArray<string>
  }
  | { readonly type: "tool-search" }

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

/**
 * A token of an answer with the logarithm of its probability, and the tokens that were likely in its place.
 *
 * @category models
 * @since 0.1.0
 */
export interface TokenLogprob extends Schema.Schema.Type<typeof TokenLogprob> {}
const tokenFields = { token: Schema.String, logprob: Schema.Finite }
/** @category schemas @since 0.1.0 */
export const TokenLogprob = Schema.Struct({
  ...tokenFields,
  top: Schema.optionalKey(Schema.Array(Schema.Struct(tokenFields)))
})

/**
 * What is left of a limit of the vendor. `resetMs` is how long until it is full again, in milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export interface RateLimit extends Schema.Schema.Type<typeof RateLimit> {}
/** @category schemas @since 0.1.0 */
export const RateLimit = Schema.Struct({
  limit: Schema.optionalKey(Schema.Finite),
  remaining: Schema.optionalKey(Schema.Finite),
  resetMs: Schema.optionalKey(Schema.Finite)
})

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
  /** Pictures and sound that the model made, as `data:` URLs. */
  files: Schema.optionalKey(Schema.Array(FilePart)),
  /** Sources of the answer. */
  citations: Schema.optionalKey(Schema.Array(Citation)),
  /** The tokens of the text with their probabilities, if `logprobs` asked for them. */
  logprobs: Schema.optionalKey(Schema.Array(TokenLogprob)),
  /** What hosted tools did, in the words of the vendor. */
  hostedCalls: Schema.optionalKey(Schema.Array(Schema.Record(Schema.String, JsonValue))),
  /** The limits of the account, if the vendor reports them. */
  rateLimits: Schema.optionalKey(
    Schema.Struct({ requests: Schema.optionalKey(RateLimit), tokens: Schema.optionalKey(RateLimit) })
  ),
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
