/** Reads a request of chat completions. */
import { type Message, text, type ToolCall } from "@belay/core/Message"
import type { ClientTool } from "@belay/core/Turn"
import { fieldsOf, filesOf, isInstruction, listField, partsOf, textField, textOf } from "../content.ts"
import { refuseFields, toolsOf } from "../openAi.ts"
import { invalid } from "../refusal.ts"
import { RequestBounds } from "../requestBounds.ts"

/** The result of a client's tool. */
export interface ToolAnswer {
  readonly id: string
  readonly output: string
}

export interface ChatRequest {
  /** The messages of the client as those of a conversation. */
  readonly messages: ReadonlyArray<Message>
  /** The texts of its system and developer messages. */
  readonly instructions: ReadonlyArray<string>
  /** The results at the end of the messages. */
  readonly answers: ReadonlyArray<ToolAnswer>
  readonly tools: ReadonlyArray<ClientTool>
  readonly isStream: boolean
  readonly withUsage: boolean
}

export const readChat = (given: unknown, maxTextLength = Infinity): ChatRequest => {
  const body = fieldsOf(given)
  refuseFields(body, {
    n: (n) => n !== 1,
    functions: () => true,
    response_format: (format) => fieldsOf(format)["type"] !== "text",
    modalities: (kinds) => JSON.stringify(kinds) !== "[\"text\"]",
    tool_choice: (choice) => choice !== "auto" && choice !== "none",
    logprobs: (value) => value !== false
  })
  const { instructions, messages } = readMessages(listField(body, "messages"), maxTextLength)
  if (messages.length === 0) throw invalid("messages: expected at least one message", "messages")
  const end = messages.findLastIndex(({ role }) => role !== "tool") + 1
  const answers = messages.slice(end).flatMap((message) =>
    message.role === "tool" ? [{ id: message.toolCallId, output: text(message) }] : []
  )
  return {
    messages,
    instructions,
    answers,
    tools: toolsOf(body),
    isStream: body["stream"] === true,
    withUsage: fieldsOf(body["stream_options"])["include_usage"] === true
  }
}

const readMessages = (
  all: ReadonlyArray<unknown>,
  maxTextLength: number
): Pick<ChatRequest, "messages" | "instructions"> => {
  const names = new Map<string, string>()
  const instructions: Array<string> = []
  const readArgs = argsReader(maxTextLength)
  const messages = all.flatMap((one, index): ReadonlyArray<Message> => {
    const fields = fieldsOf(one)
    const path = `messages[${index}]`
    if (!isInstruction(fields)) return [readMessage(fields, path, names, readArgs)]
    instructions.push(textOf(partsOf(fields["content"], `${path}.content`)))
    return []
  })
  return { messages, instructions }
}

const readMessage = (
  message: { readonly [field: string]: unknown },
  path: string,
  names: Map<string, string>,
  readArgs: ReadArgs
): Message => {
  const { content, role } = message
  const parts = partsOf(content, `${path}.content`)
  switch (role) {
    case "user":
      return { role: "user", content: filesOf(parts).length === 0 ? textOf(parts) : parts }
    case "assistant": {
      const toolCalls = readCalls(message["tool_calls"], path, readArgs)
      for (const { id, name } of toolCalls) names.set(id, name)
      return { role: "assistant", content: textOf(parts), ...(toolCalls.length === 0 ? {} : { toolCalls }) }
    }
    case "tool": {
      const toolCallId = textField(message, "tool_call_id", `${path}.tool_call_id`) ?? ""
      return { role: "tool", toolCallId, toolName: names.get(toolCallId) ?? "unknown", content: textOf(parts) }
    }
    default:
      throw invalid(`${path}.role: expected system, developer, user, assistant or tool`, `${path}.role`)
  }
}

const readCalls = (calls: unknown, path: string, readArgs: ReadArgs): ReadonlyArray<ToolCall> => {
  if (calls === undefined || calls === null) return []
  if (!Array.isArray(calls)) throw invalid(`${path}.tool_calls: expected a list`, path)
  return calls.map((call) => {
    const fields = fieldsOf(call)
    const about = fieldsOf(fields["function"])
    const id = textField(fields, "id", `${path}.tool_calls`) ?? ""
    const name = textField(about, "name", `${path}.tool_calls`) ?? ""
    return { id, name, args: readArgs(textField(about, "arguments", `${path}.tool_calls`) ?? "{}") }
  })
}

/** Returns the arguments of a call in the history of a client. Text that is not JSON stays text. */
export type ReadArgs = (text: string) => ToolCall["args"]

/** How many values the arguments of all calls of a request may have, and how many may be inside each other. */
const [maxValues, maxDepth] = [50_000, 50]

/** Makes the reader for one request. It refuses arguments that would take long to read, before it parses them. */
export const argsReader = (maxTextLength: number): ReadArgs => {
  const bounds = new RequestBounds(maxValues, maxDepth, "the arguments of tool calls have")
  let length = 0
  return (text) => {
    length += text.length
    // They are too long to be stored, so the request is refused if its history counts.
    if (length > maxTextLength) return text
    bounds.addText(text)
    try {
      // `JSON.parse` returns JSON.
      return JSON.parse(text) as ToolCall["args"]
    } catch {
      return text
    }
  }
}
