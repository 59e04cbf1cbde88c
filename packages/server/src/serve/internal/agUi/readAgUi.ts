/** Reads the input of an AG-UI run. */
import { type Json, whyNot } from "@belay/core/Json"
import type { FilePart } from "@belay/core/Message"
import type { ClientTool } from "@belay/core/Turn"
import { fieldsOf, fileOf, isInstruction, listField, textField } from "../content.ts"
import type { Given } from "../questions.ts"
import { invalid } from "../refusal.ts"

export interface AgUiRequest {
  readonly threadId: string
  readonly runId: string
  /** The last message, if it is one of the user. */
  readonly message: { readonly text: string; readonly files: ReadonlyArray<FilePart> } | undefined
  /** The answers to interrupts, by id. */
  readonly answers: ReadonlyMap<string, Given>
  /** The results of the client's tools, by call id. */
  readonly outputs: ReadonlyMap<string, string>
  readonly tools: ReadonlyArray<ClientTool>
  /** The texts of its system and developer messages. */
  readonly instructions: ReadonlyArray<string>
  /** The context and the state of the client, as text for the model. Empty if there are none. */
  readonly context: string
}

type Fields = { readonly [field: string]: unknown }

export const readAgUi = (given: unknown): AgUiRequest => {
  const body = fieldsOf(given)
  const threadId = idField(body, "threadId")
  const messages = listField(body, "messages").map(fieldsOf)
  const last = messages.at(-1)
  const resume = body["resume"] === undefined ? [] : listField(body, "resume").map(fieldsOf)
  return {
    threadId,
    runId: idField(body, "runId"),
    message: last?.["role"] === "user" ? contentOf(last["content"]) : undefined,
    answers: new Map(resume.map((entry) => [textField(entry, "interruptId") ?? "", answerOf(entry)])),
    // A message of the user after a result takes its place.
    outputs: new Map(messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1).flatMap(outputsOf)),
    tools: body["tools"] === undefined ? [] : listField(body, "tools").map(toolOf),
    instructions: messages.filter(isInstruction).map(({ content }) => contentOf(content ?? "").text),
    context: contextOf(body)
  }
}

const contextOf = (body: Fields): string => {
  const context = body["context"] === undefined ? [] : listField(body, "context").map(fieldsOf)
  const state = JSON.stringify(body["state"] ?? {})
  return [
    ...context.map((one) => `${textField(one, "description", "context")}: ${wordsOf(one["value"])}`),
    ...(state === "{}" ? [] : [`The state of the application: ${state}`])
  ].join("\n")
}

const wordsOf = (value: unknown): string => typeof value === "string" ? value : JSON.stringify(value ?? null)

const idField = (body: Fields, name: string): string => {
  const id = textField(body, name)
  if (id === undefined || id === "" || id.length > 1_000) throw invalid(`${name}: expected an id`, name)
  return id
}

const contentOf = (content: unknown): NonNullable<AgUiRequest["message"]> => {
  if (typeof content === "string") return { text: content, files: [] }
  if (!Array.isArray(content)) throw invalid("messages.content: expected a text or a list of parts", "messages")
  const parts = content.map(fieldsOf)
  return {
    text: parts.flatMap((part) => part["type"] === "text" ? [textField(part, "text", "messages.content") ?? ""] : [])
      .join(""),
    files: parts.flatMap((part) => part["type"] === "text" ? [] : [filePart(part)])
  }
}

const filePart = (part: Fields): FilePart => {
  const { mimeType, type, value } = fieldsOf(part["source"])
  const mediaType = typeof mimeType === "string" ? mimeType : undefined
  if (typeof value !== "string") throw invalid("messages.content: this kind of part is not supported", "messages")
  const url = type === "data" ? `data:${mediaType ?? "application/octet-stream"};base64,${value}` : value
  return fileOf(url, mediaType, undefined)
}

const answerOf = ({ payload, status }: Fields): Given => {
  const { always, approved, args, field, reason } = fieldsOf(payload)
  if (status !== "resolved") return { isApproved: false, reason: "cancelled by the user" }
  return {
    isApproved: approved === true,
    reason: typeof reason === "string" ? reason : undefined,
    // The body is JSON.
    args: args !== undefined && whyNot(args) === undefined ? args as Json : undefined,
    always: always === true,
    field: field === true
  }
}

const outputsOf = (message: Fields): ReadonlyArray<readonly [string, string]> => {
  const { content, role, toolCallId } = message
  if (role !== "tool" || typeof toolCallId !== "string") return []
  return [[toolCallId, wordsOf(content)]]
}

const toolOf = (tool: unknown): ClientTool => {
  const fields = fieldsOf(tool)
  return {
    name: textField(fields, "name", "tools.name") ?? "",
    description: textField(fields, "description", "tools.description") ?? "",
    // The body is JSON, and the fields of a JSON value are JSON.
    inputSchema: fieldsOf(fields["parameters"] ?? { type: "object" }) as ClientTool["inputSchema"]
  }
}
