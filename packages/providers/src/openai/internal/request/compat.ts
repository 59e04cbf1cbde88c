/** Differences between endpoints in the requests that they accept. */
import type { ConfigError } from "@belay/core/AgentError"
import type { JsonObject } from "@belay/core/Json"
import { checkKinds, checkOptions, oneOf, type OptionKinds } from "@belay/core/OptionCheck"
import * as Result from "effect/Result"

/** What an endpoint accepts. Each field has a default that works for most endpoints. */
export interface Compat {
  /** Name of the field for the maximum number of output tokens. */
  readonly maxTokensField: "max_tokens" | "max_completion_tokens"
  /** Role of the instructions. */
  readonly systemRole: "system" | "developer"
  /** Whether `temperature` and `top_p` are accepted. */
  readonly sampling: boolean
  /** Whether `tool_choice: "required"` is accepted. If not, `"auto"` is sent. */
  readonly toolChoiceRequired: boolean
  /** Whether a required tool is also asked for in the instructions, because the server ignores `tool_choice`. */
  readonly toolChoiceInWords: boolean
  /** Whether `seed` is accepted. */
  readonly seed: boolean
  /** Whether `parallel_tool_calls` is accepted. If not, it is left out. */
  readonly parallelToolCalls: boolean
  /** Whether `stream_options.include_usage` is sent. */
  readonly usageInStream: boolean
  /**
   * How the reasoning effort is sent: `reasoning_effort`, OpenRouter's `reasoning`, a `thinking` switch, Qwen's
   * `enable_thinking`, a budget of tokens (Anthropic), arguments of the chat template (vLLM, llama.cpp), or not at all.
   */
  readonly reasoning: "effort" | "openrouter" | "thinking" | "enable_thinking" | "budget" | "template" | "none"
  /** How the reasoning itself is asked for, where it does not come by itself. */
  readonly reasoningSummary: "default" | "google" | "groq" | "openrouter"
  /** How a cache of prompts is used: by itself, with a key (OpenAI), or with marks on messages (`cache_control`). */
  readonly promptCache: "automatic" | "key" | "markers"
  /** How a chat completion asks the vendor to search the web. Perplexity always does. */
  readonly webSearch: "none" | "options" | "openrouter" | "xai" | "alibaba" | "zai" | "groq" | "always"
  /** Whether labels (`metadata`) are accepted. */
  readonly metadata: boolean
  /** When reasoning is sent back to the endpoint that it came from. */
  readonly reasoningReplay: "never" | "with-tools" | "always"
  /** Whether an empty text next to tool calls is sent as `null`. */
  readonly nullContentWithTools: boolean
  /** Whether tool results contain the name of the tool. */
  readonly toolResultName: boolean
  /** Whether `tools: []` is sent when the transcript has tool calls and the request has no tools. */
  readonly emptyTools: boolean
  /** Allowed ids of tool calls: 40 characters, or nine letters and digits. */
  readonly toolIds: "40" | "alphanumeric-9"
  /**
   * How an answer is made to fit a schema: by the endpoint (`native`, or only if the request has no tools), as the
   * arguments of a tool that must be called, or by an instruction.
   */
  readonly jsonSchema: "native" | "native-without-tools" | "tool" | "prompt"
  /** Whether to request encrypted reasoning, which can be sent back (Responses only). */
  readonly encryptedReasoning: boolean
  /** Fields for every request. Fields of the request override them. */
  readonly extraBody?: JsonObject
}

/** The kinds of these fields. */
const compatKinds: OptionKinds<Compat> = {
  maxTokensField: "text",
  systemRole: "text",
  sampling: "flag",
  toolChoiceRequired: "flag",
  toolChoiceInWords: "flag",
  seed: "flag",
  parallelToolCalls: "flag",
  usageInStream: "flag",
  reasoning: "text",
  reasoningSummary: "text",
  promptCache: "text",
  webSearch: "text",
  metadata: "flag",
  reasoningReplay: "text",
  nullContentWithTools: "flag",
  toolResultName: "flag",
  emptyTools: "flag",
  toolIds: "text",
  jsonSchema: "text",
  encryptedReasoning: "flag",
  extraBody: "object"
}

/** The fields that have one of a few texts. */
const choices = {
  maxTokensField: ["max_tokens", "max_completion_tokens"],
  systemRole: ["system", "developer"],
  reasoning: ["effort", "openrouter", "thinking", "enable_thinking", "budget", "template", "none"],
  reasoningSummary: ["default", "google", "groq", "openrouter"],
  promptCache: ["automatic", "key", "markers"],
  webSearch: ["none", "options", "openrouter", "xai", "alibaba", "zai", "groq", "always"],
  reasoningReplay: ["never", "with-tools", "always"],
  toolIds: ["40", "alphanumeric-9"],
  jsonSchema: ["native", "native-without-tools", "tool", "prompt"]
} satisfies { readonly [K in keyof Compat]?: ReadonlyArray<Compat[K]> }

/** Checks fields that a program passed. */
export const checkCompat = (owner: string, given: Partial<Compat>): Result.Result<void, ConfigError> =>
  Result.flatMap(checkKinds(owner, given, compatKinds), () =>
    checkOptions(
      owner,
      // The keys of the table are fields.
      ...Object.entries(choices).map(([key, texts]) => oneOf(key, given[key as keyof Compat], texts))
    ))

/** Values that most endpoints accept. */
export const defaults: Compat = {
  maxTokensField: "max_tokens",
  systemRole: "system",
  sampling: true,
  toolChoiceRequired: true,
  toolChoiceInWords: false,
  seed: true,
  parallelToolCalls: true,
  usageInStream: true,
  reasoning: "effort",
  reasoningSummary: "default",
  promptCache: "automatic",
  webSearch: "none",
  metadata: true,
  reasoningReplay: "with-tools",
  nullContentWithTools: true,
  toolResultName: false,
  emptyTools: false,
  toolIds: "40",
  jsonSchema: "native",
  encryptedReasoning: false
}
