/** In what an endpoint differs from the others, on the request side. */
import type { JsonObject } from "@belay/core/Json"

/** What an endpoint wants. Each field has a default that most endpoints accept. */
export interface Compat {
  /** Field for the most tokens to write. */
  readonly maxTokensField: "max_tokens" | "max_completion_tokens"
  /** Role of the instructions. */
  readonly systemRole: "system" | "developer"
  /** Whether `temperature` and `top_p` are accepted. */
  readonly sampling: boolean
  /** Whether `tool_choice: "required"` is accepted; else `"auto"` is sent. */
  readonly toolChoiceRequired: boolean
  /** Whether `parallel_tool_calls` is accepted; else it is left out. */
  readonly parallelToolCalls: boolean
  /** Whether `stream_options.include_usage` is sent. */
  readonly usageInStream: boolean
  /**
   * How much to reason: `reasoning_effort`, OpenRouter's `reasoning`, a `thinking` switch, Qwen's `enable_thinking`, or
   * not at all.
   */
  readonly reasoning: "effort" | "openrouter" | "thinking" | "enable_thinking" | "none"
  /** When reasoning goes back to the endpoint it came from. */
  readonly reasoningReplay: "never" | "with-tools" | "always"
  /** Whether an empty text beside tool calls is sent as `null`. */
  readonly nullContentWithTools: boolean
  /** Whether results name their tool. */
  readonly toolResultName: boolean
  /** Whether `tools: []` is sent when the transcript has tool calls and the request has no tools. */
  readonly emptyTools: boolean
  /** What ids of tool calls may look like: 40 characters, or nine letters and digits. */
  readonly toolIds: "40" | "alphanumeric-9"
  /**
   * How an answer is made to fit a schema: by the endpoint itself (`native`, or only where the request has no tools),
   * as the arguments of a tool that must be called, or by an instruction.
   */
  readonly jsonSchema: "native" | "native-without-tools" | "tool" | "prompt"
  /** Whether reasoning is asked for in encrypted form, so that it can go back (Responses only). */
  readonly encryptedReasoning: boolean
  /** Sent with every request, beneath what the request itself says. */
  readonly extraBody?: JsonObject
}

/** What most endpoints accept. */
export const defaults: Compat = {
  maxTokensField: "max_tokens",
  systemRole: "system",
  sampling: true,
  toolChoiceRequired: true,
  parallelToolCalls: true,
  usageInStream: true,
  reasoning: "effort",
  reasoningReplay: "with-tools",
  nullContentWithTools: true,
  toolResultName: false,
  emptyTools: false,
  toolIds: "40",
  jsonSchema: "native",
  encryptedReasoning: false
}
