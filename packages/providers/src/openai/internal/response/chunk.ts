/** What a chunk of a streamed answer says. */
import type { LlmResponse } from "@belay/core/LlmCall"
import type { FinishReason } from "@belay/core/Turn"
import { isObject, type Loose, textOf } from "../request/guards.ts"
import * as ToolCalls from "./toolCalls.ts"

/** Returns an answer or a chunk if it is an error. */
export const errorIn = (chunk: unknown): unknown => {
  if (!isObject(chunk)) return undefined
  if (isObject(chunk.error) || textOf(chunk.error) !== undefined) return chunk
  if (chunk.object === "error" || chunk.type === "error") return chunk
  return chunk.choices === undefined && chunk.object === undefined &&
      (chunk.detail !== undefined || (textOf(chunk.message) !== undefined && chunk.code !== undefined))
    ? chunk
    : undefined
}

export const textIn = (value: unknown): string =>
  typeof value === "string"
    ? value
    : Array.isArray(value)
    ? value.map((part) => isObject(part) ? textOf(part.text) ?? "" : textOf(part) ?? "").join("")
    : ""

/** Whether the vendor says that the tool calls of an answer are complete. */
export const completenessOf = (reason: FinishReason, isMarked: boolean, isWhole: boolean): ToolCalls.Completeness => {
  if (reason === "stop" || reason === "tool-calls") return "complete"
  if (!isMarked || reason !== "unknown") return "unclear"
  return isWhole ? "complete" : "marked"
}

export const isFilteredOut = ({ files, finishReason, refusal, text, toolCalls }: LlmResponse): boolean =>
  finishReason === "content-filter" && text === "" && toolCalls.length === 0 && refusal === undefined &&
  files === undefined

export const carriesSomething = (delta: Loose): boolean =>
  Object.keys(delta).some((key) => key !== "role" && !isBlank(delta[key]))

const isBlank = (value: unknown): boolean =>
  value === null || value === undefined || value === "" ||
  (typeof value === "object" && Object.keys(value).length === 0)

const partTypes: ReadonlySet<unknown> = new Set(
  "text output_text input_text thinking reasoning refusal image_url image file audio input_audio reference".split(" ")
)

/** Whether content is the JSON that was asked for, and not a part of a message. */
export const isData = (content: unknown): boolean =>
  isObject(content) && typeof content.text !== "string" && !partTypes.has(content.type) && !isBlank(content)

/** Returns `tool-calls` if there are tool calls, whatever finish reason the vendor sends. */
export const finishReasonOf = (reason: FinishReason, calls: number): FinishReason => {
  if (calls > 0 && (reason === "stop" || reason === "unknown")) return "tool-calls"
  return reason === "tool-calls" && calls === 0 ? "unknown" : reason
}
