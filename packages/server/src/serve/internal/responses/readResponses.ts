/** Reads a request of the Responses API. */
import type { FilePart, Message } from "@belay/core/Message"
import type { ClientTool } from "@belay/core/Turn"
import { argsReader, type ToolAnswer } from "../chat/readChat.ts"
import { fieldsOf, filesOf, isInstruction, partsOf, textField, textOf } from "../content.ts"
import { refuseFields, toolsOf } from "../openAi.ts"
import { invalid } from "../refusal.ts"

/** The answer to an approval request. */
interface ApprovalAnswer {
  readonly id: string
  readonly isApproved: boolean
  readonly reason: string | undefined
}

export interface ResponsesRequest {
  readonly previous: string | undefined
  /** The name of the conversation. */
  readonly conversation: string | undefined
  /** `instructions`, and the texts of system and developer messages. */
  readonly instructions: ReadonlyArray<string>
  /** What comes before the message. */
  readonly history: ReadonlyArray<Message>
  /** The last message, if it is one of the user. */
  readonly message: { readonly text: string; readonly files: ReadonlyArray<FilePart> } | undefined
  readonly answers: ReadonlyArray<ToolAnswer>
  readonly approvals: ReadonlyArray<ApprovalAnswer>
  readonly tools: ReadonlyArray<ClientTool>
  readonly isStream: boolean
  readonly isBackground: boolean
}

type Fields = { readonly [field: string]: unknown }

export const readResponses = (body: Fields, maxTextLength = Infinity): ResponsesRequest => {
  refuseFields(body, {
    text: (text) => (fieldsOf(fieldsOf(text)["format"])["type"] ?? "text") !== "text",
    tool_choice: (choice) => choice !== "auto" && choice !== "none",
    prompt: () => true
  })
  const items = itemsOf(body["input"])
  const messages = readItems(items, maxTextLength)
  const last = messages.at(-1)
  const isMessage = last?.role === "user" && last.source === undefined && kindOf(items.at(-1)) === "message"
  const content = isMessage ? last.content : []
  const parts = typeof content === "string" ? partsOf(content, "input") : content
  return {
    previous: textField(body, "previous_response_id"),
    conversation: textField(fieldsOf(body["conversation"]), "id") ??
      (typeof body["conversation"] === "string" ? body["conversation"] : undefined),
    instructions: [...instructionsOf(body), ...items.flatMap(instructionIn)],
    history: isMessage ? messages.slice(0, -1) : messages,
    message: isMessage ? { text: textOf(parts), files: filesOf(parts) } : undefined,
    answers: items.flatMap((item) => kindOf(item) === "function_call_output" ? [answerOf(item)] : []),
    approvals: items.flatMap((item) => kindOf(item) === "mcp_approval_response" ? [approvalOf(item)] : []),
    tools: toolsOf(body),
    isStream: body["stream"] === true,
    isBackground: body["background"] === true
  }
}

const itemsOf = (input: unknown): ReadonlyArray<Fields> => {
  if (typeof input === "string") return [{ role: "user", content: input }]
  if (!Array.isArray(input)) throw invalid("input: expected a text or a list of items", "input")
  return input.map(fieldsOf)
}

const kindOf = (item: Fields | undefined): unknown => item?.["type"] ?? "message"

const instructionsOf = (body: Fields): ReadonlyArray<string> => {
  const text = textField(body, "instructions")
  return text === undefined || text === "" ? [] : [text]
}

const instructionIn = (item: Fields, index: number): ReadonlyArray<string> =>
  kindOf(item) === "message" && isInstruction(item)
    ? [textOf(partsOf(item["content"], `input[${index}].content`))]
    : []

/** Returns the items as messages of a conversation. Calls and their results come in pairs. */
const readItems = (items: ReadonlyArray<Fields>, maxTextLength: number): ReadonlyArray<Message> => {
  const names = new Map<string, string>()
  const readArgs = argsReader(maxTextLength)
  return items.flatMap((item, index): ReadonlyArray<Message> => {
    const path = `input[${index}]`
    switch (kindOf(item)) {
      case "message":
        return isInstruction(item) ? [] : [readMessage(item, path)]
      case "function_call": {
        const id = textField(item, "call_id", path) ?? ""
        const name = textField(item, "name", path) ?? ""
        names.set(id, name)
        return [{
          role: "assistant",
          content: "",
          toolCalls: [{ id, name, args: readArgs(textField(item, "arguments", path) ?? "{}") }]
        }]
      }
      case "function_call_output": {
        const { id, output } = answerOf(item)
        const toolName = names.get(id)
        // Without its call in the input, the result belongs to a call of the session.
        return toolName === undefined ? [] : [{ role: "tool", toolCallId: id, toolName, content: output }]
      }
      case "mcp_approval_response":
      case "mcp_approval_request":
      case "mcp_call":
      case "reasoning":
        return []
      default:
        throw invalid(`${path}: this kind of item is not supported`, path)
    }
  })
}

const readMessage = (item: Fields, path: string): Message => {
  const { role = "user" } = item
  const parts = partsOf(item["content"], `${path}.content`)
  switch (role) {
    case "user":
      return { role, content: filesOf(parts).length === 0 ? textOf(parts) : parts }
    case "assistant":
      return { role, content: textOf(parts) }
    default:
      throw invalid(`${path}.role: expected system, developer, user or assistant`, `${path}.role`)
  }
}

const answerOf = (item: Fields): ToolAnswer => {
  const { output } = item
  return {
    id: textField(item, "call_id", "input.call_id") ?? "",
    output: typeof output === "string" ? output : textOf(partsOf(output, "input.output"))
  }
}

const approvalOf = (item: Fields): ApprovalAnswer => ({
  id: textField(item, "approval_request_id", "input.approval_request_id") ?? "",
  isApproved: item["approve"] === true,
  reason: textField(item, "reason", "input.reason")
})
