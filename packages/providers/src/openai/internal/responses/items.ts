/** Renders messages as input items of the Responses API. */
import type { ContentPart, Message } from "@belay/core/Message"
import type { EasyInputMessage, ResponseInputContent, ResponseInputItem } from "openai/resources/responses/responses"
import type { Compat } from "../request/compat.ts"
import { isObject } from "../request/guards.ts"
import { argsFor, ownMetadata, remember, type Renderer, resultOf, stringify, toolId } from "../request/message.ts"

/** Creates a renderer for one endpoint. */
export const renderer = (provider: string, compat: Compat): Renderer =>
  remember((message) => items(message, provider, compat))

const items = (message: Message, provider: string, compat: Compat): ReadonlyArray<object> => {
  switch (message.role) {
    case "user":
      return [
        {
          role: "user",
          content: typeof message.content === "string" ? message.content : message.content.map(part)
        } satisfies EasyInputMessage
      ]
    case "assistant":
      return assistant(message, provider, compat)
    case "tool":
      return toolResult(message, compat)
  }
}

/** Places reasoning before the message that it led to, in the order of the endpoint. */
const assistant = (
  message: Extract<Message, { role: "assistant" }>,
  provider: string,
  compat: Compat
): ReadonlyArray<object> => {
  const own = ownMetadata(message.metadata, provider)
  const reasoning = compat.reasoningReplay !== "never" && Array.isArray(own.reasoningItems)
    ? own.reasoningItems.filter(isObject)
    : []
  return [
    ...reasoning,
    ...(message.content === ""
      ? []
      : [{
        role: "assistant",
        content: message.content,
        ...(typeof own.phase === "string" ? { phase: own.phase } : {})
      }]),
    ...(message.toolCalls ?? []).map((call): ResponseInputItem => ({
      type: "function_call",
      call_id: toolId(call.id, compat),
      name: call.name,
      arguments: stringify(argsFor(call, provider) ?? {})
    }))
  ]
}

const toolResult = (message: Extract<Message, { role: "tool" }>, compat: Compat): ReadonlyArray<ResponseInputItem> => {
  const { files, text } = resultOf(message)
  return [
    { type: "function_call_output", call_id: toolId(message.toolCallId, compat), output: text },
    ...(files.length === 0
      ? []
      : [{
        role: "user" as const,
        content: [
          { type: "input_text" as const, text: `Files of the result of ${message.toolName}:` },
          ...files.map(part)
        ]
      }])
  ]
}

const part = (given: ContentPart): ResponseInputContent => {
  if (given.type === "text") return { type: "input_text", text: given.text }
  if (given.mediaType.startsWith("image/")) return { type: "input_image", image_url: given.url, detail: "auto" }
  return given.url.startsWith("data:")
    ? { type: "input_file", filename: given.filename ?? "file", file_data: given.url }
    : { type: "input_file", file_url: given.url }
}
