/** The prompt of the AI SDK as messages of Belay, and back. What no hook has changed goes back as it came. */
import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart
} from "@ai-sdk/provider"
import { canonical, type Json } from "@belay/core/Json"
import type { AssistantMessage, FilePart, Message, ToolMessage, UserMessage } from "@belay/core/Message"
import { jsonOf, sameJson } from "../json.ts"

/** One message of Belay with the part of the prompt from which it was made. */
interface Unit {
  readonly message: Message
  readonly source: LanguageModelV4Message
}

/** A prompt, read. */
export interface ReadPrompt {
  readonly instructions: string | undefined
  readonly system: ReadonlyArray<LanguageModelV4Message>
  readonly units: ReadonlyArray<Unit>
}

/** Reads a prompt. Each result of a tool is a message of its own. */
export const readPrompt = (prompt: LanguageModelV4Prompt): ReadPrompt => {
  const system = prompt.filter(({ role }) => role === "system")
  const texts = prompt.flatMap((message) => message.role === "system" ? [message.content] : [])
  return {
    instructions: texts.length === 0 ? undefined : texts.join("\n\n"),
    system,
    units: prompt.flatMap(unitsOf)
  }
}

const unitsOf = (source: LanguageModelV4Message): ReadonlyArray<Unit> => {
  switch (source.role) {
    case "system":
      return []
    case "user":
      return [{ message: userOf(source), source }]
    case "assistant":
      return [{ message: assistantOf(source), source }]
    case "tool":
      return source.content.flatMap((part) =>
        part.type === "tool-result" ? [{ message: resultOf(part), source: { ...source, content: [part] } }] : []
      )
  }
}

type Of<Role extends LanguageModelV4Message["role"]> = Extract<LanguageModelV4Message, { readonly role: Role }>

const userOf = ({ content }: Of<"user">): UserMessage => {
  const only = content.length === 1 ? content[0] : undefined
  if (only?.type === "text") return { role: "user", content: only.text }
  return {
    role: "user",
    content: content.map((part) => part.type === "text" ? { type: "text", text: part.text } : fileOf(part))
  }
}

interface AnyFile {
  readonly mediaType?: string
  readonly filename?: string | undefined
  readonly data?: unknown
}

/** Hooks see that there is a file, and its address if it has one. Its bytes stay with the SDK. */
const fileOf = ({ data, filename, mediaType = "application/octet-stream" }: AnyFile): FilePart => {
  const given = typeof data === "object" && data !== null && "url" in data ? data.url : data
  const url = given instanceof URL || (typeof given === "string" && /^https?:/.test(given)) ? String(given) : "data:,"
  return { type: "file", mediaType, url, ...(filename === undefined ? {} : { filename }) }
}

const assistantOf = ({ content }: Of<"assistant">): AssistantMessage => {
  const calls = content.flatMap((part) =>
    part.type === "tool-call" ? [{ id: part.toolCallId, name: part.toolName, args: jsonOf(part.input) }] : []
  )
  const reasoning = reasoningOf(content)
  return {
    role: "assistant",
    content: content.flatMap((part) => part.type === "text" ? [part.text] : []).join(""),
    ...(calls.length === 0 ? {} : { toolCalls: calls }),
    ...(reasoning === "" ? {} : { reasoning })
  }
}

const reasoningOf = (content: Of<"assistant">["content"]): string =>
  content.flatMap((part) => part.type === "reasoning" ? [part.text] : []).join("")

const resultOf = ({ output, toolCallId, toolName }: LanguageModelV4ToolResultPart): ToolMessage => {
  const { content, isError } = readOutput(output)
  return { role: "tool", toolCallId, toolName, content, ...(isError ? { isError } : {}) }
}

/** Returns the result of a tool as JSON. */
const readOutput = (
  output: LanguageModelV4ToolResultOutput
): { readonly content: Json; readonly isError: boolean } => {
  switch (output.type) {
    case "text":
      return { content: output.value, isError: false }
    case "error-text":
      return { content: output.value, isError: true }
    case "execution-denied":
      return { content: output.reason ?? "the call was not approved", isError: true }
    case "content":
      return {
        content: output.value.map((part) =>
          part.type === "text" ? { type: "text", text: part.text } : { ...fileOf(part as AnyFile) }
        ),
        isError: false
      }
    default:
      return { content: jsonOf(output.value), isError: output.type === "error-json" }
  }
}

/**
 * Makes the prompt that the model reads. Messages that no hook has changed keep everything that the SDK put into them.
 */
export const writePrompt = (
  { instructions: before, system, units }: ReadPrompt,
  instructions: string | undefined,
  messages: ReadonlyArray<Message>
): LanguageModelV4Prompt => {
  let texts: ReadonlyArray<string> | undefined
  let next = 0
  const written = messages.map((message): LanguageModelV4Message => {
    // A message that no hook has changed is the same object.
    if (units[next]?.message === message) return units[next++]!.source
    texts ??= units.map((unit) => canonical(unit.message as unknown as Json))
    const text = canonical(message as unknown as Json)
    const found = texts.indexOf(text, next)
    if (found >= 0) {
      next = found + 1
      return units[found]!.source
    }
    const changed = units[next]?.message.role === message.role ? units[next++]!.source : undefined
    return writeMessage(message, changed)
  })
  const head: LanguageModelV4Prompt = instructions === before
    ? [...system]
    : instructions === undefined
    ? []
    : [{ role: "system", content: instructions }]
  return [...head, ...joined(written)]
}

/** The results of one step are one message. */
const joined = (messages: ReadonlyArray<LanguageModelV4Message>): LanguageModelV4Prompt => {
  const made: LanguageModelV4Prompt = []
  for (const message of messages) {
    const last = made.at(-1)
    if (last?.role === "tool" && message.role === "tool") {
      made[made.length - 1] = { ...last, content: [...last.content, ...message.content] }
    } else made.push(message)
  }
  return made
}

/** Writes a message. `source` is the one that a hook has changed into it, whose other parts stay. */
export const writeMessage = (message: Message, source: LanguageModelV4Message | undefined): LanguageModelV4Message => {
  switch (message.role) {
    case "user":
      return writeUser(message, source?.role === "user" ? source : undefined)
    case "assistant":
      return writeAssistant(message, source?.role === "assistant" ? source : undefined)
    case "tool":
      return writeResult(message)
  }
}

const writeUser = ({ content }: UserMessage, source: Of<"user"> | undefined): LanguageModelV4Message => {
  const texts = typeof content === "string"
    ? [content]
    : content.flatMap((part) => part.type === "text" ? part.text : [])
  const files = source?.content.filter(({ type }) => type === "file") ?? []
  return {
    ...source,
    role: "user",
    content: [...texts.map((text) => ({ type: "text" as const, text })), ...files]
  }
}

/** Every part keeps its place and what the vendor has put into it. Text that a hook has changed loses that. */
const writeAssistant = (
  { content, reasoning = "", toolCalls = [] }: AssistantMessage,
  source: Of<"assistant"> | undefined
): LanguageModelV4Message => {
  const parts = source?.content ?? []
  const text = content === "" ? [] : [{ type: "text" as const, text: content }]
  const isSameText = parts.flatMap((part) => part.type === "text" ? [part.text] : []).join("") === content
  const textAt = parts.findIndex(({ type }) => type === "text")
  const isSameReasoning = reasoningOf(parts) === reasoning
  const reasoningAt = reasoning === "" ? -1 : parts.findIndex(({ type }) => type === "reasoning")
  const before = new Set(parts.flatMap((part) => part.type === "tool-call" ? [part.toolCallId] : []))
  const written = parts.flatMap((part, index): ReadonlyArray<typeof part> => {
    if (part.type === "text") return isSameText ? [part] : index === textAt ? text : []
    if (part.type === "reasoning" && !isSameReasoning) {
      return index === reasoningAt ? [{ type: "reasoning", text: reasoning }] : []
    }
    if (part.type !== "tool-call" && part.type !== "tool-result") return [part]
    const call = toolCalls.find(({ id }) => id === part.toolCallId)
    if (call === undefined) return before.has(part.toolCallId) ? [] : [part]
    if (part.type === "tool-result") return [part]
    return [{ ...part, toolName: call.name, input: sameJson(jsonOf(part.input), call.args) ? part.input : call.args }]
  })
  const callAt = written.findIndex(({ type }) => type === "tool-call")
  const end = callAt < 0 ? written.length : callAt
  return {
    ...source,
    role: "assistant",
    content: [
      ...written.slice(0, end),
      ...(isSameText || textAt >= 0 ? [] : text),
      ...written.slice(end),
      ...toolCalls.filter(({ id }) => !before.has(id)).map(({ args, id, name }) => ({
        type: "tool-call" as const,
        toolCallId: id,
        toolName: name,
        input: args
      }))
    ]
  }
}

const writeResult = ({ content, isError, toolCallId, toolName }: ToolMessage): LanguageModelV4Message => {
  const kind = isError === true ? "error-" : ""
  const output = typeof content === "string"
    ? { type: `${kind}text` as "text" | "error-text", value: content }
    // The JSON of the two libraries is the same; the AI SDK's type cannot be read-only.
    : { type: `${kind}json` as "json" | "error-json", value: content as never }
  return { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output }] }
}
