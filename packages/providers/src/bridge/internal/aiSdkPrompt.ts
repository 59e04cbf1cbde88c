/** Converts an `LlmRequest` to the call options of the AI SDK. */
import { defined } from "@belay/core/Fields"
import type { Json, JsonObject } from "@belay/core/Json"
import type { LlmParameters, LlmRequest, ResponseFormat } from "@belay/core/LlmCall"
import type { AssistantMessage, ContentPart, ProviderMetadata, ToolMessage } from "@belay/core/Message"
import { isObject } from "../../openai/internal/request/guards.ts"
import { argsFor, ownMetadata, resultOf } from "../../openai/internal/request/message.ts"
import { base64Of } from "./data.ts"
import { recall } from "./parts.ts"

/** The model that the options are for. */
export interface Target {
  readonly provider: string
  /** Version of the interface of the model, such as `v4`. */
  readonly version: string
  /** Format of the answer. */
  readonly format?: ResponseFormat | undefined
}

/** Options for one vendor, by its name. */
type ProviderOptions = Record<string, { [key: string]: Json }>

/** The options of version 4 that Belay uses. */
export interface CallOptions {
  prompt: Array<PromptMessage>
  abortSignal: AbortSignal
  maxOutputTokens?: number
  temperature?: number
  topP?: number
  seed?: number
  stopSequences?: Array<string>
  reasoning?: Effort
  headers?: { readonly [name: string]: string }
  responseFormat?: { type: "json"; name: string; schema: object }
  providerOptions?: ProviderOptions
  tools?: Array<{ type: "function"; name: string; description: string; inputSchema: object }>
  toolChoice?: { type: "auto" | "none" | "required" } | { type: "tool"; toolName: string }
}

type Effort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max"

type PromptMessage =
  & (
    | { role: "system"; content: string }
    | { role: "user"; content: Array<UserPart> }
    | { role: "assistant"; content: Array<AssistantPart> }
    | { role: "tool"; content: Array<ResultPart> }
  )
  & { providerOptions?: ProviderOptions }

type UserPart =
  | { type: "text"; text: string }
  | { type: "file"; mediaType: string; filename?: string; data: FileData }

type FileData = { type: "data"; data: string } | { type: "url"; url: URL }

type AssistantPart =
  | { type: "text" | "reasoning"; text: string; providerOptions?: ProviderOptions }
  | { type: "tool-call"; toolCallId: string; toolName: string; input: unknown; providerOptions?: ProviderOptions }

interface ResultPart {
  type: "tool-result"
  toolCallId: string
  toolName: string
  output: { type: "text" | "error-text"; value: string }
}

/** Returns the options of one call. */
export const callOptions = (request: LlmRequest, target: Target, abortSignal: AbortSignal): CallOptions => {
  const { extra, headers, maxTokens, reasoningEffort, seed, stop, temperature, toolChoice, topP } = request.parameters
  const providerOptions = Object.fromEntries(
    Object.entries(extra ?? {}).filter(([, value]) => isObject(value))
    // The values of options are JSON objects.
  ) as ProviderOptions
  return {
    prompt: prompt(request, target),
    abortSignal,
    ...defined({ maxOutputTokens: maxTokens, temperature, topP, seed, headers }),
    ...(stop === undefined || stop.length === 0 ? {} : { stopSequences: [...stop] }),
    ...(target.format === undefined
      ? {}
      : { responseFormat: { type: "json", name: target.format.name, schema: target.format.schema } }),
    ...(isEffort(reasoningEffort) ? { reasoning: reasoningEffort } : {}),
    ...(Object.keys(providerOptions).length === 0 ? {} : { providerOptions }),
    ...(request.tools.length === 0 ? {} : {
      tools: request.tools.map(({ description, inputSchema, name }) => ({
        type: "function",
        name,
        description,
        inputSchema
      })),
      toolChoice: choice(toolChoice)
    })
  }
}

const isEffort = (effort: string | undefined): effort is Effort =>
  effort !== undefined && ["none", "minimal", "low", "medium", "high", "xhigh", "max"].includes(effort)

const choice = (given: LlmParameters["toolChoice"] = "auto"): NonNullable<CallOptions["toolChoice"]> =>
  typeof given === "string" ? { type: given } : { type: "tool", toolName: given.tool }

/**
 * Joins the results of one step into one message. Files in them become a user message after it, which every vendor can
 * read.
 */
const prompt = (request: LlmRequest, target: Target): Array<PromptMessage> => {
  const messages: Array<PromptMessage> = []
  if (request.instructions !== undefined && request.instructions !== "") {
    messages.push({ role: "system", content: request.instructions })
  }
  let results: Array<ToolMessage> = []
  const flush = (): void => {
    if (results.length > 0) messages.push(...toolMessages(results, target))
    results = []
  }
  for (const message of request.messages) {
    if (message.role === "tool") {
      results.push(message)
      continue
    }
    flush()
    if (message.role === "assistant") messages.push(assistant(message, target))
    else {
      const content = typeof message.content === "string"
        ? [{ type: "text" as const, text: message.content }]
        : message.content
      messages.push({ role: "user", content: content.map((part) => contentPart(part, target)) })
    }
  }
  flush()
  return markCache(messages, request.parameters.promptCache)
}

/** Marks the ends of what the vendor may cache, for vendors that need marks: the instructions and the conversation. */
const markCache = (messages: Array<PromptMessage>, cache: LlmParameters["promptCache"]): Array<PromptMessage> => {
  if (cache === undefined || cache === false) return messages
  const last = messages.length - 1
  const options: ProviderOptions = {
    anthropic: { cacheControl: cache === "1h" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" } },
    bedrock: { cachePoint: { type: "default" } }
  }
  return messages.map((message, index) =>
    message.role === "system" || index === last ? { ...message, providerOptions: options } : message
  )
}

const assistant = (message: AssistantMessage, { provider }: Target): PromptMessage => ({
  role: "assistant",
  content: [
    ...recall(provider, message).map(({ extra, text, type }) => ({ type, text, ...optionsOf(extra) })),
    ...(message.toolCalls ?? []).map((call) => ({
      type: "tool-call" as const,
      toolCallId: call.id,
      toolName: call.name,
      input: argsFor(call, provider) ?? {},
      ...optionsOf(leftOn(call.metadata, provider))
    }))
  ]
})

/** Returns the metadata that a vendor stored on a call. */
const leftOn = (metadata: typeof ProviderMetadata.Type | undefined, provider: string): Json | undefined =>
  ownMetadata(metadata, provider).extra_content

const optionsOf = (extra: Json | JsonObject | undefined): { providerOptions?: ProviderOptions } =>
  // Only this provider stores this metadata.
  isObject(extra) ? { providerOptions: extra as ProviderOptions } : {}

const toolMessages = (results: ReadonlyArray<ToolMessage>, target: Target): ReadonlyArray<PromptMessage> => {
  const files = results.flatMap((result) => resultOf(result).files.map((file) => contentPart(file, target)))
  return [
    {
      role: "tool",
      content: results.map((result) => ({
        type: "tool-result",
        toolCallId: result.toolCallId,
        toolName: result.toolName,
        output: { type: result.isError === true ? "error-text" : "text", value: resultOf(result).text }
      }))
    },
    ...(files.length === 0
      ? []
      : [{ role: "user" as const, content: [{ type: "text" as const, text: "Files of the results:" }, ...files] }])
  ]
}

const contentPart = (part: ContentPart, { version }: Target): UserPart => {
  if (part.type === "text") return { type: "text", text: part.text }
  const base64 = base64Of(part.url)
  const tagged: FileData = base64 === undefined
    ? { type: "url", url: new URL(part.url) }
    : { type: "data", data: base64 }
  return {
    type: "file",
    mediaType: part.mediaType,
    // Before version 4, data and URLs were not wrapped in an object.
    data: version === "v4" ? tagged : (tagged.type === "url" ? tagged.url : base64) as unknown as FileData,
    ...(part.filename === undefined ? {} : { filename: part.filename })
  }
}
