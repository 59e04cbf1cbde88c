/** The items of the OpenAI Agents SDK as messages of Belay, and back. What no hook has changed goes back as it came. */
import type { Json } from "@belay/core/Json"
import type { AssistantMessage, FilePart, Message, ToolCall, ToolMessage, UserMessage } from "@belay/core/Message"
import type { AgentInputItem, AgentOutputItem } from "@openai/agents"
import * as Result from "effect/Result"
import { jsonOf } from "../json.ts"
import { type Unit, writeUnits } from "../units.ts"

/** Items, read. */
export interface ReadItems {
  readonly units: ReadonlyArray<Unit<AgentInputItem>>
  /** The instructions between the messages. */
  readonly instructions: ReadonlyArray<string>
  /** The items after the last message that no hook reads, such as reasoning. */
  readonly rest: ReadonlyArray<AgentInputItem>
}

type Item = AgentInputItem
type OfType<Type extends string> = Extract<Item, { readonly type: Type }>

const isCall = (item: Item): item is OfType<"function_call"> => item.type === "function_call"
const isResult = (item: Item): item is OfType<"function_call_result"> => item.type === "function_call_result"
const isUser = (item: Item): item is Extract<Item, { readonly role: "user" }> => "role" in item && item.role === "user"
const isAssistant = (item: Item): item is Extract<Item, { readonly role: "assistant" }> =>
  "role" in item && item.role === "assistant"

/** Whether an item is instructions between the messages. */
export const isInstructions = (item: Item): item is Extract<Item, { readonly role: "system" }> =>
  "role" in item && item.role === "system"

/** Reads items. The text of the model and the calls that follow it are one message. */
export const readItems = (items: ReadonlyArray<Item>): ReadItems => {
  const units: Array<Unit<AgentInputItem>> = []
  let before: Array<Item> = []
  /** The message of the model that is still open. */
  let open: { message: AssistantMessage; source: Array<Item> } | undefined
  const close = () => {
    if (open !== undefined) units.push(open)
    open = undefined
  }
  const add = (item: Item) => {
    if (open === undefined) return
    open.source.push(...before, item)
    const reasoning = reasoningOf(open.source)
    if (reasoning !== "") open.message = { ...open.message, reasoning }
  }
  for (const item of items) {
    if (isAssistant(item)) {
      close()
      open = { message: { role: "assistant", content: textOf(item) }, source: [] }
      add(item)
    } else if (isCall(item)) {
      open ??= { message: { role: "assistant", content: "" }, source: [] }
      add(item)
      open.message = { ...open.message, toolCalls: [...open.message.toolCalls ?? [], callOf(item)] }
    } else if (isUser(item) || isResult(item)) {
      close()
      units.push({ message: isUser(item) ? userOf(item) : resultOf(item), source: [...before, item] })
    } else {
      before.push(item)
      continue
    }
    before = []
  }
  close()
  return { units, rest: before, instructions: items.filter(isInstructions).map(({ content }) => content) }
}

/** Returns what the model has thought, as far as the vendor shows it. */
export const reasoningOf = (items: ReadonlyArray<Item>): string =>
  items.flatMap((item) =>
    item.type === "reasoning" ? [...item.content, ...item.rawContent ?? []].map(({ text }) => text) : []
  ).join("")

/** Puts what hooks have made of the thoughts into the items. The items stay, because calls may need them. */
export const withReasoning = <I extends Item>(items: Array<I>, reasoning: string): Array<I> => {
  if (reasoningOf(items) === reasoning) return items
  const first = items.find(({ type }) => type === "reasoning")
  return items.map((item) => {
    if (item.type !== "reasoning") return item
    const { rawContent: _raw, ...rest } = item
    const content = item === first && reasoning !== "" ? [{ type: "input_text" as const, text: reasoning }] : []
    return { ...rest, content } as unknown as I
  })
}

const textOf = ({ content }: Extract<Item, { readonly role: "assistant" }>): string =>
  content.flatMap((part) => part.type === "output_text" ? [part.text] : part.type === "refusal" ? [part.refusal] : [])
    .join("")

/** Reads a call of the model, whose arguments may not be JSON. */
export const callOf = ({ arguments: given, callId: id, name }: OfType<"function_call">): ToolCall => {
  const read = Result.try(() => JSON.parse(given === "" ? "{}" : given) as Json)
  return Result.isSuccess(read) ? { id, name, args: read.success } : { id, name, args: null, malformed: given }
}

const userOf = ({ content }: Extract<Item, { readonly role: "user" }>): UserMessage => {
  if (typeof content === "string") return { role: "user", content }
  const [only] = content
  if (content.length === 1 && only?.type === "input_text") return { role: "user", content: only.text }
  return {
    role: "user",
    content: content.map((part) => part.type === "input_text" ? { type: "text", text: part.text } : fileOf(part.type))
  }
}

/** Hooks see that there is a picture, a sound or a file. Its bytes stay with the SDK. */
const fileOf = (type: string): FilePart => ({
  type: "file",
  mediaType: type === "input_image" ? "image/*" : type === "audio" ? "audio/*" : "application/octet-stream",
  url: "data:,"
})

const resultOf = ({ callId, name, output }: OfType<"function_call_result">): ToolMessage => {
  const text = typeof output === "object" && !Array.isArray(output) && output.type === "text" ? output.text : output
  return { role: "tool", toolCallId: callId, toolName: name, content: jsonOf(text) }
}

/** Makes the items that the model reads. */
export const writeItems = ({ rest, units }: ReadItems, messages: ReadonlyArray<Message>): Array<AgentInputItem> => [
  ...writeUnits(units, messages, writeMessage),
  ...rest
]

/** Writes a message. `source` are the items of the one that a hook has changed into it. */
export const writeMessage = (message: Message, source: ReadonlyArray<Item>): ReadonlyArray<AgentInputItem> => {
  const kept = source.filter((item) => !isCall(item) && !isResult(item) && !isUser(item) && !isAssistant(item))
  switch (message.role) {
    case "user":
      return [...kept, { role: "user", content: userContent(message, source.find(isUser)) }]
    case "assistant":
      return [...withReasoning(kept, message.reasoning ?? ""), ...assistantItems(message, source)]
    case "tool":
      return [...kept, resultItem(message)]
  }
}

type UserContent = Extract<Item, { readonly role: "user" }>["content"]

const userContent = (
  message: UserMessage,
  source: Extract<Item, { readonly role: "user" }> | undefined
): UserContent => {
  const texts = typeof message.content === "string"
    ? [message.content]
    : message.content.flatMap((part) => part.type === "text" ? [part.text] : [])
  const files = source === undefined || typeof source.content === "string"
    ? []
    : source.content.filter(({ type }) => type !== "input_text")
  return [...texts.map((text) => ({ type: "input_text" as const, text })), ...files]
}

/** Writes a message of the model as items. */
export const assistantItems = (
  { content, toolCalls = [] }: Pick<AssistantMessage, "content" | "toolCalls">,
  source: ReadonlyArray<Item> = []
): ReadonlyArray<AgentOutputItem> => [
  ...(content === "" ? [] : [source.filter(isAssistant).find((item) => textOf(item) === content) ?? said(content)]),
  ...toolCalls.map(({ args, id, name }) => ({
    ...source.filter(isCall).find(({ callId }) => callId === id),
    type: "function_call" as const,
    callId: id,
    name,
    status: "completed" as const,
    arguments: JSON.stringify(args)
  }))
]

/** A text of the model as an item. */
export const said = (text: string): Extract<AgentOutputItem, { readonly role: "assistant" }> => ({
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text }]
})

const resultItem = ({ content, toolCallId, toolName }: ToolMessage): OfType<"function_call_result"> => ({
  type: "function_call_result",
  callId: toolCallId,
  name: toolName,
  status: "completed",
  output: { type: "text", text: typeof content === "string" ? content : JSON.stringify(content) }
})
