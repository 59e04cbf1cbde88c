/** Renders messages for a request. Long messages are rendered once and cached. */
import { digest, type Json, type JsonObject } from "@belay/core/Json"
import type { ContentPart, FilePart, Message, ProviderMetadata, ToolCall, ToolMessage } from "@belay/core/Message"
import type { ChatCompletionContentPart } from "openai/resources/chat/completions"
import type { Compat } from "./compat.ts"
import { isObject } from "./guards.ts"

/** Renders a message as JSON text. A tool result with pictures becomes two messages. */
export type Renderer = (message: Message) => string

/** Creates a renderer for one endpoint. */
export const renderer = (provider: string, compat: Compat): Renderer => {
  const known = remember((message) => wireMessages(message, provider, compat))
  return (message) => shortText(message, compat) ?? known(message)
}

/** Texts that are shorter are written again each time. That is as quick as to look them up, and nothing is kept. */
const cachedLength = 1_000

/** Renders a short message without calls, metadata or files. Returns nothing for other messages. */
const shortText = (message: Message, compat: Compat): string | undefined => {
  const { content, role } = message
  if (typeof content === "string" ? content.length >= cachedLength : typeof content !== "number") return undefined
  switch (role) {
    case "user":
      return `{"role":"user","content":${stringify(content)}}`
    case "assistant":
      return message.toolCalls === undefined && message.metadata === undefined && message.reasoning === undefined
        ? `{"role":"assistant","content":${stringify(content)}}`
        : undefined
    case "tool": {
      if (compat.toolResultName || message.note !== undefined) return undefined
      const text = typeof content === "string" ? stringify(content) : `"${stringify(content)}"`
      // No character of the id needs an escape.
      return `{"role":"tool","tool_call_id":"${toolId(message.toolCallId, compat)}","content":${text}}`
    }
  }
}

/** Creates a renderer with a cache: the same message object gives the same text. */
export const remember = (render: (message: Message) => ReadonlyArray<object>): Renderer => {
  const known = new WeakMap<Message, string>()
  return (message) => {
    const before = known.get(message)
    if (before !== undefined) return before
    const text = render(message).map(stringify).join(",")
    known.set(message, text)
    return text
  }
}

/** Writes JSON with well-formed strings. Half a surrogate pair would make some servers answer 400. */
export const stringify = (value: unknown): string => {
  const text = JSON.stringify(value)
  return text.includes("\\ud")
    ? JSON.stringify(value, (_, inner: unknown) => typeof inner === "string" ? inner.toWellFormed() : inner)
    : text
}

const wireMessages = (message: Message, provider: string, compat: Compat): ReadonlyArray<object> => {
  switch (message.role) {
    case "user":
      return [{
        role: "user",
        content: typeof message.content === "string" ? message.content : message.content.map(contentPart)
      }]
    case "assistant":
      return [assistant(message, provider, compat)]
    case "tool":
      return toolResult(message, compat)
  }
}

const assistant = (message: Extract<Message, { role: "assistant" }>, provider: string, compat: Compat): object => {
  const calls = message.toolCalls ?? []
  const hasCalls = calls.length > 0
  const own = ownMetadata(message.metadata, provider)
  return {
    role: "assistant",
    content: message.content === "" && hasCalls && compat.nullContentWithTools ? null : message.content,
    ...(hasCalls ? { tool_calls: calls.map((call) => toolCall(call, provider, compat)) } : {}),
    ...(compat.reasoningReplay === "always" || (compat.reasoningReplay === "with-tools" && hasCalls)
      ? replay(message, own)
      : {}),
    ...(own.extra_content === undefined ? {} : { extra_content: own.extra_content })
  }
}

const toolCall = (call: ToolCall, provider: string, compat: Compat): object => {
  const own = ownMetadata(call.metadata, provider)
  return {
    id: toolId(call.id, compat),
    type: "function",
    function: { name: call.name, arguments: stringify(argsFor(call, provider) ?? {}) },
    ...(own.extra_content === undefined ? {} : { extra_content: own.extra_content })
  }
}

/** Sends reasoning back in the field that it came in, and only to the provider that wrote it. */
const replay = (message: Extract<Message, { role: "assistant" }>, own: JsonObject): object => {
  if (own.reasoningDetails !== undefined) return { reasoning_details: own.reasoningDetails }
  const { reasoningField: field } = own
  if (message.reasoning === undefined || typeof field !== "string" || field === "reasoning_details") return {}
  if (field !== "content") return { [field]: message.reasoning }
  return {
    content: [
      { type: "thinking", thinking: [{ type: "text", text: message.reasoning }] },
      ...(message.content === "" ? [] : [{ type: "text", text: message.content }])
    ]
  }
}

const toolResult = (message: Extract<Message, { role: "tool" }>, compat: Compat): ReadonlyArray<object> => {
  const { files, text } = resultOf(message)
  const named = compat.toolResultName ? { name: message.toolName } : {}
  return [
    { role: "tool", tool_call_id: toolId(message.toolCallId, compat), ...named, content: text },
    ...(files.length === 0
      ? []
      : [{
        role: "user",
        content: [{ type: "text", text: `Files of the result of ${message.toolName}:` }, ...files.map(contentPart)]
      }])
  ]
}

/**
 * Separates the output of a tool into text and files, because no endpoint accepts files in a tool result. The note
 * about the call is a part of the text.
 */
export const resultOf = (
  { content, note }: ToolMessage
): { readonly text: string; readonly files: ReadonlyArray<FilePart> } => {
  const { files, text } = outputOf(content)
  return { text: note === undefined ? text : `${text}\n\n${note}`, files }
}

const outputOf = (content: Json): { readonly text: string; readonly files: ReadonlyArray<FilePart> } => {
  if (typeof content === "string") return { text: content, files: [] }
  const parts = contentParts(content)
  if (parts === undefined) return { text: stringify(content), files: [] }
  return {
    text: parts.map((part) => part.type === "text" ? part.text : `[${part.filename ?? part.mediaType}]`).join("\n"),
    files: parts.filter((part) => part.type === "file")
  }
}

const contentParts = (content: Json): ReadonlyArray<ContentPart> | undefined => {
  if (!Array.isArray(content) || content.length === 0) return undefined
  const fits = content.every((part) =>
    isObject(part) &&
    ((part.type === "text" && typeof part.text === "string") ||
      (part.type === "file" && typeof part.url === "string" && typeof part.mediaType === "string"))
  )
  // `fits` has checked the parts.
  return fits ? content as unknown as ReadonlyArray<ContentPart> : undefined
}

const contentPart = (part: ContentPart): ChatCompletionContentPart => {
  if (part.type === "text") return { type: "text", text: part.text }
  if (part.mediaType.startsWith("image/")) return { type: "image_url", image_url: { url: part.url } }
  const audio = audioPart(part)
  if (audio !== undefined) return audio
  if (!part.url.startsWith("data:")) return { type: "text", text: `[${part.filename ?? part.mediaType}](${part.url})` }
  return { type: "file", file: { filename: part.filename ?? "file", file_data: part.url } }
}

const audioPart = (part: FilePart): ChatCompletionContentPart | undefined => {
  const format = /^audio\/(?:x-)?(wav|mp3|mpeg)$/.exec(part.mediaType)?.[1]
  const data = /^data:[^,]*;base64,(.*)$/s.exec(part.url)?.[1]
  return format === undefined || data === undefined
    ? undefined
    : { type: "input_audio", input_audio: { data, format: format === "wav" ? "wav" : "mp3" } }
}

/** Converts an id into one that the endpoint accepts. The same id always gives the same result. */
export const toolId = (id: string, compat: Compat): string => {
  const fits = compat.toolIds === "40" ? /^[\w.:-]{1,40}$/ : /^[a-zA-Z0-9]{9}$/
  if (fits.test(id)) return id
  return compat.toolIds === "40" ? `call_${digest(id)}` : digest(id).slice(0, 9)
}

/**
 * Returns the arguments of a call for a request. A vendor that may have signed the call gets what the model wrote, also
 * if a hook or a person changed it.
 */
export const argsFor = ({ args, changed, metadata }: ToolCall, provider: string): Json =>
  changed?.asked !== undefined && metadata?.[provider] !== undefined ? changed.asked : args

/** Returns the metadata that a provider stored on a message. */
export const ownMetadata = (metadata: typeof ProviderMetadata.Type | undefined, provider: string): JsonObject => {
  const own = metadata?.[provider]
  // Only this provider stores this metadata.
  return isObject(own) ? own as JsonObject : {}
}
