/** The texts of a model call as the attributes that the conventions define for them. */
import type { Json } from "@belay/core/Json"
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { Message } from "@belay/core/Message"
import { attribute } from "../Conventions.ts"
import type { Attributes } from "./telemetry.ts"

/** Changes a text before it is recorded. */
export type Redact = (text: string) => string

/** The longest value of an attribute, in characters. */
const maxLength = 50_000

export const requestContent = (redact: Redact, { instructions, messages }: LlmRequest): Attributes => ({
  [attribute.instructions]: instructions === undefined
    ? undefined
    : render(redact, [{ type: "text", content: instructions }]),
  [attribute.inputMessages]: render(redact, messages.map(messageOf))
})

export const responseContent = (
  redact: Redact,
  { finishReason, reasoning, text, toolCalls }: LlmResponse
): Attributes => {
  const parts = [
    ...(reasoning === undefined ? [] : [{ type: "reasoning", content: reasoning }]),
    ...(text === "" ? [] : [{ type: "text", content: text }]),
    ...toolCalls.map(({ args, id, name }) => ({ type: "tool_call", id, name, arguments: args }))
  ]
  return { [attribute.outputMessages]: render(redact, [{ role: "assistant", parts, finish_reason: finishReason }]) }
}

const messageOf = (message: Message): unknown => {
  if (message.role === "tool") {
    return { role: "tool", parts: [{ type: "tool_call_response", id: message.toolCallId, response: message.content }] }
  }
  const calls = "toolCalls" in message ? message.toolCalls ?? [] : []
  const { content, role } = message
  return {
    role,
    parts: [
      ...(typeof content !== "string" ? content.map(partOf) : content === "" ? [] : [{ type: "text", content }]),
      ...calls.map(({ args, id, name }) => ({ type: "tool_call", id, name, arguments: args }))
    ]
  }
}

/** Of a file, only the type is recorded. */
const partOf = (part: { readonly type: string; readonly text?: string }): unknown =>
  part.type === "text" ? { type: "text", content: part.text } : { type: part.type }

/** Renders a value as JSON. Each text in it is redacted. What is too long is cut, and says so. */
export const render = (redact: Redact, value: unknown): string => {
  const seen = typeof value === "string" ? redact(value) : JSON.stringify(
    value,
    (_key, inner: Json) => typeof inner === "string" ? redact(inner) : inner
  ) ?? "null"
  return seen.length <= maxLength ? seen : `${seen.slice(0, maxLength).toWellFormed()}… (${seen.length} characters)`
}
