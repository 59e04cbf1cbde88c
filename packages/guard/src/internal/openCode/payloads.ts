/** What the plugin API of opencode passes to its hooks, as far as the guard reads it. */
import type { Json } from "@belay/core/Json"
import { jsonOf } from "../json.ts"

/** What every event about a tool has. */
export interface ToolEvent {
  readonly tool: string
  readonly sessionID: string
  readonly callID: string
}

/** A part of a message. */
export interface Part {
  readonly type: string
  text?: string
  readonly callID?: string
  readonly id?: string
  readonly tool?: string
  readonly state?: unknown
}

/** A call that has failed, as the model reads it. */
export interface FailedState {
  readonly status: "error"
  readonly input?: unknown
  error: string
}

/** Returns the state of a failed call. */
export const failedOf = ({ state, type }: Part): FailedState | undefined =>
  type === "tool" && Object(state).status === "error" ? state as FailedState : undefined

/** Joins texts that the model reads, one after the other. */
export const joined = (texts: ReadonlyArray<string>): string => texts.filter((text) => text !== "").join("\n\n")

/** Writes text into the parts of a message, in place of the text that they have. */
export const writeText = (parts: Array<Part>, text: string): void => {
  const kept = parts.find(isText)
  if (kept === undefined) throw new Error("a hook added text to a message that has none")
  for (let index = parts.length - 1; index >= 0; index -= 1) {
    const part = parts[index]!
    if (isText(part) && part !== kept) parts.splice(index, 1)
  }
  kept.text = text
}

/** Returns the text of a message. */
export const textOf = (parts: ReadonlyArray<Part>): string => joined(parts.filter(isText).map(({ text }) => text))

const isText = (part: Part): part is Part & { text: string } => part.type === "text" && typeof part.text === "string"

/** What a tool has returned: text, or what an MCP server has answered. */
export interface ToolOutput {
  output?: unknown
  metadata?: unknown
  attachments?: unknown
  content?: unknown
  structuredContent?: unknown
  readonly isError?: unknown
}

/** Returns what the model would read. */
export const outputOf = ({ content, output }: ToolOutput): Json => {
  if (!Array.isArray(content)) return jsonOf(output ?? "")
  const parts: ReadonlyArray<unknown> = content
  const isAllText = parts.every((part) => Object(part).type === "text")
  return isAllText ? parts.map((part) => String(Object(part).text)).join("\n\n") : jsonOf(parts)
}

/** Replaces what the model reads. What the tool has returned beside it is removed if a hook withheld something. */
export const writeOutput = (target: ToolOutput, text: string): void => {
  delete target.attachments
  if (Array.isArray(target.content)) {
    target.content = [{ type: "text", text }]
    delete target.structuredContent
    return
  }
  target.output = text
  // The terminal shows the output of a command from here.
  target.metadata = Object(target.metadata).output === undefined ? {} : { output: text }
}

/** Adds to what the model reads. */
export const appendOutput = (target: ToolOutput, text: string): void => {
  const { content } = target
  if (Array.isArray(content)) target.content = [...content as ReadonlyArray<unknown>, { type: "text", text }]
  else target.output = joined([shown(outputOf(target)), text])
}

/** Shows a value as text. */
export const shown = (value: Json): string => typeof value === "string" ? value : JSON.stringify(value)
