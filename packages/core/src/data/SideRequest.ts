/**
 * What a hook or a tool asks a model, outside of the conversation.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "./Json.ts"
import type { LlmParameters } from "./LlmCall.ts"
import type { Message } from "./Message.ts"
import type { InputSchema } from "./tool/InputSchema.ts"
import type { ToolMeta } from "./tool/Tool.ts"

/** The request of a hook or a tool to a model. @category models @since 0.1.0 */
export interface SideRequest {
  /** One user message, or a whole conversation. */
  readonly prompt: string | ReadonlyArray<Message>
  readonly instructions?: string
  /**
   * The name of one of the agent's side models (`models`), or the vendor's name of a model. If the agent has side
   * models, any other name is an error, unless `provider` is given too. Default: the model of the agent.
   */
  readonly model?: string
  /** The name of one of the agent's providers. Default: the provider that the agent uses. */
  readonly provider?: string
  readonly parameters?: LlmParameters
  /** Tools that the model may call. Whoever asks has to run them. Default: none. */
  readonly tools?: ReadonlyArray<ToolMeta>
  /**
   * The schema of an object that the answer must fit. The model receives it. An answer that does not fit is sent back
   * once.
   */
  readonly schema?: InputSchema
  /** The JSON Schema of the answer. Required if the schema library cannot generate it. */
  readonly jsonSchema?: JsonObject
}
