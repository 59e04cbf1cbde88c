/** Converts conversations between Belay and `effect/ai` in both directions. */
import type { Json, JsonObject } from "@belay/core/Json"
import type { LlmRequest } from "@belay/core/LlmCall"
import type { AssistantMessage, ContentPart, Message, ToolCall, ToolMessage } from "@belay/core/Message"
import type * as Prompt from "effect/ai/Prompt"
import { boundedJson, compact, isObject } from "../../openai/internal/request/guards.ts"
import { argsFor, ownMetadata, resultOf } from "../../openai/internal/request/message.ts"
import { base64Of } from "./data.ts"
import { recall } from "./parts.ts"

/** Converts a request to a prompt. The results of one step become one message. */
export const toPrompt = (
  { instructions, messages }: LlmRequest,
  provider: string
): ReadonlyArray<Prompt.MessageEncoded> => {
  const out: Array<Prompt.MessageEncoded> = []
  if (instructions !== undefined && instructions !== "") out.push({ role: "system", content: instructions })
  let results: Array<Prompt.ToolResultPartEncoded> = []
  for (const [index, message] of messages.entries()) {
    if (message.role === "user") {
      const { content } = message
      out.push({ role: "user", content: typeof content === "string" ? content : content.map(contentPart) })
    } else if (message.role === "assistant") out.push({ role: "assistant", content: assistantParts(message, provider) })
    else {
      results.push(resultPart(message))
      if (messages[index + 1]?.role === "tool") continue
      out.push({ role: "tool", content: results })
      results = []
    }
  }
  return out
}

const assistantParts = (
  message: AssistantMessage,
  provider: string
): ReadonlyArray<Prompt.AssistantMessagePartEncoded> => [
  ...recall(provider, message).map(({ extra, text, type }) => ({ type, text, ...optionsOf(extra) })),
  ...(message.toolCalls ?? []).map((call) => ({
    type: "tool-call" as const,
    id: call.id,
    name: call.name,
    params: argsFor(call, provider) ?? {},
    ...optionsOf(ownMetadata(call.metadata, provider).extra_content)
  }))
]

/** Returns the options that a vendor stored on a part. */
const optionsOf = (extra: Json | undefined): { options?: Record<string, Json> } =>
  // Only this provider stores this metadata.
  isObject(extra) ? { options: extra as Record<string, Json> } : {}

const resultPart = (message: ToolMessage): Prompt.ToolResultPartEncoded => {
  const { content, isError = false, note, toolCallId: id, toolName: name } = message
  const { files, text } = resultOf(message)
  const modelOutput = files.length === 0 && note === undefined
    ? {}
    : { modelOutput: [{ type: "text" as const, text }, ...files.map(contentPart)] }
  return { type: "tool-result", id, name, isFailure: isError, result: content, ...modelOutput }
}

const contentPart = (part: ContentPart): Prompt.TextPartEncoded | Prompt.FilePartEncoded => {
  if (part.type === "text") return { type: "text", text: part.text }
  const data = base64Of(part.url) ?? { _tag: "URL" as const, href: part.url }
  return {
    type: "file",
    mediaType: part.mediaType,
    data,
    ...(part.filename === undefined ? {} : { fileName: part.filename })
  }
}

/** Metadata that Belay stores on the parts of an answer, so that it returns with the next prompt. */
export interface Left {
  /** On any part: the metadata of the message. */
  readonly message?: JsonObject
  /** On a tool call: the metadata of the call. */
  readonly call?: JsonObject
}

/** The key of this metadata. */
export const mark = "belay"

/** Converts a prompt to a conversation. */
export const fromPrompt = (prompt: Prompt.Prompt): Pick<LlmRequest, "instructions" | "messages"> => {
  const instructions: Array<string> = []
  const messages: Array<Message> = []
  for (const message of prompt.content) {
    switch (message.role) {
      case "system":
        instructions.push(message.content)
        break
      case "user":
        messages.push({ role: "user", content: userContent(message.content) })
        break
      case "assistant":
        messages.push(assistantMessage(message.content))
        break
      case "tool":
        for (const part of message.content) if (part.type === "tool-result") messages.push(toolMessage(part))
    }
  }
  return { messages, ...(instructions.length === 0 ? {} : { instructions: instructions.join("\n\n") }) }
}

const userContent = (parts: ReadonlyArray<Prompt.UserMessagePart>): string | ReadonlyArray<ContentPart> => {
  const [first] = parts
  return parts.length === 1 && first?.type === "text" ? first.text : parts.map(partOf)
}

const partOf = (part: Prompt.TextPart | Prompt.FilePart): ContentPart =>
  part.type === "text" ? { type: "text", text: part.text } : {
    type: "file",
    mediaType: part.mediaType,
    url: urlOf(part),
    ...(part.fileName === undefined ? {} : { filename: part.fileName })
  }

const urlOf = ({ data, mediaType }: Prompt.FilePart): string => {
  if (data instanceof URL) return data.href
  if (typeof data === "string" && /^(?:data|https?):/.test(data)) return data
  return `data:${mediaType};base64,${typeof data === "string" ? data : Buffer.from(data).toString("base64")}`
}

const assistantMessage = (parts: ReadonlyArray<Prompt.AssistantMessagePart>): AssistantMessage => {
  const texts = { text: "", reasoning: "" }
  const toolCalls: Array<ToolCall> = []
  let metadata: JsonObject | undefined
  for (const part of parts) {
    const left = leftOn(part)
    metadata ??= left.message
    if (part.type === "text" || part.type === "reasoning") texts[part.type] += part.text
    else if (part.type === "tool-call" && !part.providerExecuted) {
      const args = boundedJson(part.params) ?? null
      toolCalls.push({
        id: part.id,
        name: part.name,
        args,
        ...(left.call === undefined ? {} : { metadata: left.call })
      })
    }
  }
  return {
    role: "assistant",
    content: texts.text,
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...(texts.reasoning === "" ? {} : { reasoning: texts.reasoning }),
    ...(metadata === undefined ? {} : { metadata })
  }
}

const leftOn = ({ options }: Prompt.AssistantMessagePart): Left => {
  const left = options[mark]
  if (!isObject(left)) return {}
  return {
    // Only Belay stores this metadata.
    ...(isObject(left.message) ? { message: left.message as JsonObject } : {}),
    // Only Belay stores this metadata.
    ...(isObject(left.call) ? { call: left.call as JsonObject } : {})
  }
}

const toolMessage = ({ id, isFailure, modelOutput, name, result }: Prompt.ToolResultPart): ToolMessage => ({
  role: "tool",
  toolCallId: id,
  toolName: name,
  content: modelOutput === undefined
    ? boundedJson(result) ?? compact(result)
    : modelOutput.map((part) => ({ ...partOf(part) })),
  ...(isFailure ? { isError: true } : {})
})
