/** Reads the requests of `useChat`. */
import type { FilePart } from "@belay/core/Message"
import type { ClientTool } from "@belay/core/Turn"
import { fieldsOf, fileOf, isInstruction, listField, textField } from "../content.ts"
import { invalid } from "../refusal.ts"

/** What a client claims about a question. The server looks for it among the open ones. */
interface UiAnswer {
  readonly id: string
  readonly isApproved: boolean
  readonly reason: string | undefined
}

export interface UiRequest {
  /** The name of the chat. */
  readonly id: string
  readonly message: {
    readonly id: string
    readonly text: string
    readonly files: ReadonlyArray<FilePart>
  } | undefined
  /** The id of the assistant's message, if it is the last one. */
  readonly assistantId: string | undefined
  readonly answers: ReadonlyArray<UiAnswer>
  /** The results of the client's tools, by call id. */
  readonly outputs: ReadonlyMap<string, string>
  /** The texts of its system messages. */
  readonly instructions: ReadonlyArray<string>
  readonly tools: ReadonlyArray<ClientTool>
  readonly isAgain: boolean
}

type Fields = { readonly [field: string]: unknown }

export const readUi = (given: unknown): UiRequest => {
  const body = fieldsOf(given)
  const id = textField(body, "id")
  if (id === undefined || id === "" || id.length > 1_000) throw invalid("id: expected the id of a chat", "id")
  const messages = listField(body, "messages").map(fieldsOf)
  const last = messages.at(-1) ?? {}
  const role = last["role"]
  if (role !== "user" && role !== "assistant") {
    throw invalid("messages: the last message must be one of the user or of the assistant", "messages")
  }
  const parts = listField(last, "parts", "messages.parts").map(fieldsOf)
  const messageId = textField(last, "id", "messages.id") ?? ""
  return {
    id,
    message: role === "user" ? { id: messageId, ...contentOf(parts) } : undefined,
    assistantId: role === "assistant" && messageId !== "" ? messageId.slice(0, 200) : undefined,
    answers: role === "assistant" ? parts.flatMap(answersOf) : [],
    outputs: new Map(role === "assistant" ? parts.flatMap(outputsOf) : []),
    instructions: messages.filter(isInstruction).map((message) =>
      contentOf(listField(message, "parts", "messages.parts").map(fieldsOf)).text
    ),
    tools: body["tools"] === undefined ? [] : listField(body, "tools").map(toolOf),
    isAgain: body["trigger"] === "regenerate-message"
  }
}

const contentOf = (parts: ReadonlyArray<Fields>) => ({
  text: parts.flatMap((part) => part["type"] === "text" ? [textField(part, "text", "messages.parts.text") ?? ""] : [])
    .join(""),
  files: parts.flatMap((part) => part["type"] === "file" ? [filePart(part)] : [])
})

const filePart = (part: Fields): FilePart => {
  const path = "messages.parts"
  return fileOf(
    textField(part, "url", path) ?? "",
    textField(part, "mediaType", path),
    textField(part, "filename", path)
  )
}

const answersOf = (part: Fields): ReadonlyArray<UiAnswer> => {
  if (part["state"] !== "approval-responded") return []
  const { approved, id, reason } = fieldsOf(part["approval"])
  if (typeof id !== "string") return []
  return [{ id, isApproved: approved === true, reason: typeof reason === "string" ? reason : undefined }]
}

const outputsOf = (part: Fields): ReadonlyArray<readonly [string, string]> => {
  const { errorText, output, state, toolCallId } = part
  if (typeof toolCallId !== "string") return []
  if (state === "output-available") {
    return [[toolCallId, typeof output === "string" ? output : JSON.stringify(output ?? null)]]
  }
  return state === "output-error" ? [[toolCallId, `error: ${String(errorText)}`]] : []
}

const toolOf = (tool: unknown): ClientTool => {
  const fields = fieldsOf(tool)
  return {
    name: textField(fields, "name", "tools.name") ?? "",
    description: textField(fields, "description", "tools.description") ?? "",
    // The body is JSON, and the fields of a JSON value are JSON.
    inputSchema: fieldsOf(fields["inputSchema"] ?? { type: "object" }) as ClientTool["inputSchema"]
  }
}
