/** Messages of LangChain as messages of Belay, and back. */
import type { Json } from "@belay/core/Json"
import type { LlmResponse } from "@belay/core/LlmCall"
import type { FilePart, Message, ToolCall } from "@belay/core/Message"
import type { Usage } from "@belay/core/Usage"
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage, type UsageMetadata } from "@langchain/core/messages"
import { jsonOf } from "../json.ts"
import type { Unit } from "../units.ts"

/** A conversation, read. */
export interface ReadMessages {
  readonly instructions: string | undefined
  readonly units: ReadonlyArray<Unit<BaseMessage>>
  /** What follows the last message that hooks read. */
  readonly rest: ReadonlyArray<BaseMessage>
}

/** Whether a message is instructions: one of the system, or with a role that hooks do not know. */
export const isInstructions = (message: BaseMessage): boolean => messageOf(message) === undefined

/** Reads messages. Instructions keep their place. */
export const readMessages = (messages: ReadonlyArray<BaseMessage>): ReadMessages => {
  const units: Array<Unit<BaseMessage>> = []
  const system: Array<string> = []
  let before: Array<BaseMessage> = []
  for (const source of messages) {
    const message = messageOf(source)
    if (message === undefined) {
      if (source.text !== "") system.push(source.text)
      before.push(source)
      continue
    }
    units.push({ message, source: [...before, source] })
    before = []
  }
  return { instructions: system.length === 0 ? undefined : system.join("\n\n"), units, rest: before }
}

const messageOf = (source: BaseMessage): Message | undefined => {
  if (HumanMessage.isInstance(source)) return { role: "user", content: userContent(source) }
  if (AIMessage.isInstance(source)) {
    const toolCalls = callsOf(source)
    const reasoning = reasoningOf(source)
    return {
      role: "assistant",
      content: source.text,
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
      ...(reasoning === "" ? {} : { reasoning })
    }
  }
  return ToolMessage.isInstance(source)
    ? {
      role: "tool",
      toolCallId: source.tool_call_id,
      toolName: source.name ?? "",
      content: contentOf(source),
      ...(source.status === "error" ? { isError: true } : {})
    }
    : undefined
}

const userContent = ({ content, text }: HumanMessage): Extract<Message, { readonly role: "user" }>["content"] => {
  if (typeof content === "string" || content.every(({ type }) => type === "text")) return text
  return content.map((block) => block.type === "text" ? { type: "text", text: String(block["text"]) } : fileOf(block))
}

/** Hooks see that there is a file. Its bytes stay with the SDK. */
const fileOf = (block: { readonly [key: string]: unknown }): FilePart => ({
  type: "file",
  mediaType: typeof block["mimeType"] === "string" ? block["mimeType"] : "application/octet-stream",
  url: "data:,"
})

/** Returns the result of a tool as JSON. */
export const contentOf = ({ content }: ToolMessage): Json => typeof content === "string" ? content : jsonOf(content)

/** Where vendors write what a model has thought: in blocks of the content, and beside it. */
const thoughts: ReadonlySet<unknown> = new Set(["reasoning", "thinking", "reasoning_content"])

/** Returns what the model has thought, as far as the vendor shows it. */
const reasoningOf = ({ additional_kwargs: more, content }: AIMessage): string => {
  const blocks = typeof content === "string" ? [] : content.filter(({ type }) => thoughts.has(type))
  const { reasoning_content: beside } = more
  return blocks.map((block) => {
    const text: unknown = block["reasoning"] ?? block["thinking"]
    return typeof text === "string" ? text : ""
  }).join("") + (typeof beside === "string" ? beside : "")
}

const callsOf = ({ tool_calls: calls = [] }: AIMessage): ReadonlyArray<ToolCall> =>
  calls.map(({ args, id = "", name }) => ({ id, name, args: jsonOf(args) }))

/** Writes a message. `source` is what a hook has changed into it. */
export const writeMessage = (message: Message, source: ReadonlyArray<BaseMessage>): ReadonlyArray<BaseMessage> => {
  const old = source.at(-1)
  const id = old?.id === undefined ? {} : { id: old.id }
  switch (message.role) {
    case "user":
      return [...source.slice(0, -1), new HumanMessage({ ...id, content: humanContent(message, old) })]
    case "assistant": {
      const { content, toolCalls = [] } = message
      const kept = AIMessage.isInstance(old) ? keptOf(old, { ...message, text: content, toolCalls }) : { content }
      return [...source.slice(0, -1), new AIMessage({ ...id, ...kept, tool_calls: toolCalls.map(writeCall) })]
    }
    case "tool":
      return [...source.slice(0, -1), resultOf(message.toolCallId, message.toolName, message.content, message.isError)]
  }
}

const humanContent = (
  { content }: Extract<Message, { readonly role: "user" }>,
  old: BaseMessage | undefined
): HumanMessage["content"] => {
  const files = old === undefined || typeof old.content === "string"
    ? []
    : old.content.filter(({ type }) => type !== "text")
  const texts = typeof content === "string"
    ? [content]
    : content.flatMap((part) => part.type === "text" ? [part.text] : [])
  return files.length === 0 ? texts.join("\n") : [...texts.map((text) => ({ type: "text" as const, text })), ...files]
}

// The arguments of a call that runs are an object; the type of JSON is wider.
const writeCall = ({ args, id, name }: ToolCall) => ({ id, name, args: args as never, type: "tool_call" as const })

/** Makes the result of a tool. */
export const resultOf = (id: string, name: string, content: Json, isError = false): ToolMessage =>
  new ToolMessage({
    tool_call_id: id,
    name,
    content: typeof content === "string" ? content : JSON.stringify(content),
    ...(isError ? { status: "error" as const } : {})
  })

/** Reads an answer of the model. */
export const responseOf = (answer: AIMessage): LlmResponse => {
  const { id, response_metadata: data } = answer
  const model: unknown = data["model_name"] ?? data["model"]
  const toolCalls = callsOf(answer)
  const reasoning = reasoningOf(answer)
  const usage = usageOf(answer)
  return {
    ...(id === undefined ? {} : { id }),
    model: typeof model === "string" ? model : "model",
    text: answer.text,
    toolCalls,
    finishReason: toolCalls.length > 0 ? "tool-calls" : "stop",
    ...(usage === undefined ? {} : { usage }),
    ...(reasoning === "" ? {} : { reasoning })
  }
}

const usageOf = (answer: AIMessage): Usage | undefined => {
  // The class says that there may be one; its types with content blocks say never.
  const used = answer.usage_metadata as UsageMetadata | undefined
  if (used === undefined) return undefined
  const { input_token_details: input, output_token_details: output } = used
  return {
    inputTokens: used.input_tokens,
    outputTokens: used.output_tokens,
    ...(input?.cache_read === undefined ? {} : { cachedTokens: input.cache_read }),
    ...(input?.cache_creation === undefined ? {} : { cacheWriteTokens: input.cache_creation }),
    ...(output?.reasoning === undefined ? {} : { reasoningTokens: output.reasoning })
  }
}

/** Puts what the hooks have changed into an answer. */
export const writeAnswer = (answer: AIMessage | undefined, response: LlmResponse): AIMessage => {
  const { reasoning = "", text, toolCalls } = response
  if (answer !== undefined) {
    const isSame = answer.text === text && reasoningOf(answer) === reasoning &&
      JSON.stringify(callsOf(answer)) === JSON.stringify(toolCalls)
    if (isSame) return answer
  }
  return new AIMessage({
    ...(answer?.id === undefined ? {} : { id: answer.id }),
    ...(answer?.usage_metadata === undefined ? {} : { usage_metadata: answer.usage_metadata }),
    response_metadata: answer?.response_metadata ?? {},
    ...(answer === undefined ? { content: text } : keptOf(answer, response)),
    tool_calls: toolCalls.map(writeCall)
  })
}

/** Parts of an answer in which the vendor writes calls once more. */
const callParts: ReadonlySet<unknown> = new Set([
  "tool_use",
  "tool_call",
  "tool_calls",
  "function_call",
  "functionCall"
])

/** What of an answer stays if hooks change it, such as the thoughts that the vendor wants to read again. */
const keptOf = (
  answer: AIMessage,
  { reasoning = "", text, toolCalls }: Pick<LlmResponse, "reasoning" | "text" | "toolCalls">
): { readonly content: AIMessage["content"]; readonly additional_kwargs: AIMessage["additional_kwargs"] } => {
  const { additional_kwargs: more, content } = answer
  const isSame = JSON.stringify(callsOf(answer)) === JSON.stringify(toolCalls)
  const isSameReasoning = reasoningOf(answer) === reasoning
  const isKept = (type: unknown) => (isSame || !callParts.has(type)) && (isSameReasoning || !thoughts.has(type))
  const additional_kwargs = Object.fromEntries(Object.entries(more).filter(([name]) => isKept(name)))
  const thought = isSameReasoning || reasoning === "" ? [] : [{ type: "reasoning" as const, reasoning }]
  if (typeof content === "string" && thought.length === 0) return { content: text, additional_kwargs }
  if (typeof content === "string") return { content: [...thought, ...textBlock(text)], additional_kwargs }
  const textAt = content.findIndex(({ type }) => type === "text")
  const said = textBlock(text)
  const blocks = [...content].flatMap((block, index): typeof content => {
    if (block.type === "text") return answer.text === text ? [block] : index === textAt ? said : []
    return isKept(block.type) ? [block] : []
  })
  return { content: [...thought, ...blocks, ...(textAt < 0 ? said : [])], additional_kwargs }
}

const textBlock = (text: string) => text === "" ? [] : [{ type: "text" as const, text }]
