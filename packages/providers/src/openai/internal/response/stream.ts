/** Assembles an answer from the chunks of a chat completion, or from a complete one. */
import type { Json } from "@belay/core/Json"
import type { LlmDelta, LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { FinishReason } from "@belay/core/Turn"
import type { Usage } from "@belay/core/Usage"
import { boundedJson, isObject, type Loose, textOf } from "../request/guards.ts"
import * as Reasoning from "../request/reasoning.ts"
import * as Think from "./think.ts"
import * as ToolCalls from "./toolCalls.ts"
import * as UsageOf from "./usage.ts"

/** The result: a response, an error body of the vendor, or a violation of the protocol. */
export type Outcome =
  | { readonly type: "response"; readonly response: LlmResponse }
  | { readonly type: "error"; readonly body: unknown }
  | { readonly type: "malformed"; readonly reason: string }

/** Assembles one answer. */
export interface Assembler {
  /** Adds a chunk or a complete answer. Returns the error body if it contains one. */
  readonly push: (chunk: unknown) => unknown
  /** Adds text of the selected choice. */
  readonly pushText: (piece: string) => void
  /** Index of the selected choice. */
  readonly choice: () => unknown
  /** Whether the vendor has sent a finish reason. */
  readonly isFinished: () => boolean
  /** Everything that has arrived so far. */
  readonly partial: () => Partial<LlmResponse>
  /** Returns the result. `isDone` means that the vendor marked the end of the stream. */
  readonly end: (isDone: boolean) => Outcome
}

/** Creates an assembler for the answer to `request`. It passes deltas to `emit` as they arrive. */
export const make = (
  request: LlmRequest,
  provider: string,
  emit: ((delta: LlmDelta) => void) | undefined
): Assembler => {
  const calls = ToolCalls.make(request, provider, emit)
  const think = Think.make()
  const details: Array<Record<string, unknown>> = []
  let model = ""
  let text = ""
  let reasoning = ""
  let refusal = ""
  let field: string | undefined
  let extra: Json | undefined
  let usage: Usage | undefined
  let finish: string | undefined
  let hasChoice = false
  let hasDelta = false
  let choiceIndex: unknown

  const addText = (piece: string): void => {
    if (think.isText()) return showText(piece)
    const split = think.push(piece)
    if (split.reasoning !== "") addReasoning(split.reasoning)
    if (split.text !== "") showText(split.text)
  }
  const showText = (piece: string): void => {
    text += piece
    if (emit !== undefined) emit({ type: "text", text: piece })
  }
  const addReasoning = (piece: string): void => {
    reasoning += piece
    if (emit !== undefined) emit({ type: "reasoning", text: piece })
  }
  const addContent = (content: unknown): void => {
    if (typeof content === "string") {
      if (content !== "") addText(content)
    } else if (Array.isArray(content)) {
      for (const part of content) addPart(part)
    } else if (isObject(content)) addPart(content)
  }
  const addPart = (part: unknown): void => {
    if (typeof part === "string") return addContent(part)
    if (!isObject(part)) return
    if (part.type === "thinking" || part.type === "reasoning") {
      field ??= "content"
      const piece = textIn(part.thinking ?? part.reasoning ?? part.text)
      if (piece !== "") addReasoning(piece)
    } else if (part.type === "refusal") refusal += textOf(part.refusal) ?? ""
    else addContent(part.text)
  }
  const addMessage = (message: Loose): void => {
    const thought = Reasoning.readReasoning(message)
    if (thought !== undefined) {
      field ??= thought.field
      if (thought.field === field) addReasoning(thought.text)
    }
    if (message.reasoning_details !== undefined) Reasoning.joinDetails(details, message.reasoning_details)
    addContent(message.content)
    if (typeof message.refusal === "string") refusal += message.refusal
    if (message.tool_calls !== undefined && message.tool_calls !== null) {
      if (Array.isArray(message.tool_calls)) { for (const piece of message.tool_calls) calls.push(piece) }
      else calls.push(message.tool_calls)
    }
    const legacy = message.function_call
    if (isObject(legacy) && (textOf(legacy.name) !== undefined || calls.count() > 0)) {
      calls.push({ index: "function_call", function: legacy })
    }
    if (isObject(message.extra_content)) extra = boundedJson(message.extra_content)
  }
  const addChoice = (choice: Loose): void => {
    hasChoice = true
    choiceIndex ??= choice.index
    if (choice.index !== choiceIndex) return
    if (isObject(choice.delta)) {
      hasDelta = true
      addMessage(choice.delta)
    } else if (isObject(choice.message)) {
      if (!hasDelta) addMessage(choice.message)
    } else if (!hasDelta) addContent(choice.text)
    finish = textOf(choice.finish_reason) ?? finish
    if (choice.usage !== undefined) usage = UsageOf.readUsage(choice.usage) ?? usage
  }
  const push = (chunk: unknown): unknown => {
    if (!isObject(chunk)) return Array.isArray(chunk) ? chunk.find((item) => errorIn(item) !== undefined) : undefined
    if (typeof chunk.model === "string" && chunk.model !== "") model = chunk.model
    if (Array.isArray(chunk.choices)) {
      for (const choice of chunk.choices) if (isObject(choice)) addChoice(choice)
    }
    if (chunk.usage !== undefined && chunk.usage !== null) usage = UsageOf.readUsage(chunk.usage) ?? usage
    if (isObject(chunk.x_groq)) usage = UsageOf.readUsage(chunk.x_groq.usage) ?? usage
    return errorIn(chunk)
  }
  const settle = (): void => {
    const rest = think.end()
    if (rest.reasoning !== "") addReasoning(rest.reasoning)
    if (rest.text !== "") showText(rest.text)
  }
  const metadata = (cut: ToolCalls.AssembledCalls["cut"]): Pick<LlmResponse, "metadata"> => {
    const kept = details.length === 0 ? undefined : boundedJson(details)
    const own: Record<string, Json> = {
      ...(field === undefined ? {} : { reasoningField: field }),
      ...(kept === undefined ? {} : { reasoningDetails: kept }),
      ...(extra === undefined ? {} : { extra_content: extra }),
      ...(cut.length === 0 ? {} : { cutToolCalls: cut.map(({ argsText, name }) => ({ name, argsText })) })
    }
    return Object.keys(own).length === 0 ? {} : { metadata: { [provider]: own } }
  }
  const shown = () => ({
    model: model === "" ? request.model ?? "" : model,
    text,
    ...(usage === undefined ? {} : { usage }),
    ...(reasoning === "" ? {} : { reasoning }),
    ...(refusal === "" ? {} : { refusal })
  })
  return {
    push,
    pushText: addText,
    choice: () => choiceIndex,
    isFinished: () => finish !== undefined,
    partial: shown,
    end: (isDone) => {
      settle()
      if (finish !== undefined && isFailure(finish)) {
        return { type: "error", body: { error: { message: `the model stopped: ${finish}`, code: finish } } }
      }
      if (!hasChoice) return { type: "malformed", reason: "the answer has no choices" }
      if (finish === undefined && !isDone && usage === undefined) {
        return { type: "malformed", reason: "the stream ended before the answer was complete" }
      }
      const reason = reasonOf(finish)
      const found = calls.end(reason === "length")
      if (found.problem !== undefined) return { type: "malformed", reason: found.problem }
      const response: LlmResponse = {
        ...shown(),
        toolCalls: found.calls,
        finishReason: finishReasonOf(reason, found.calls.length),
        ...metadata(found.cut)
      }
      return { type: "response", response }
    }
  }
}

const errorIn = (chunk: unknown): unknown => {
  if (!isObject(chunk)) return undefined
  if (isObject(chunk.error) || textOf(chunk.error) !== undefined) return chunk
  if (chunk.object === "error" || chunk.type === "error") return chunk
  return chunk.choices === undefined && chunk.object === undefined &&
      (chunk.detail !== undefined || (textOf(chunk.message) !== undefined && chunk.code !== undefined))
    ? chunk
    : undefined
}

const textIn = (value: unknown): string =>
  typeof value === "string"
    ? value
    : Array.isArray(value)
    ? value.map((part) => isObject(part) ? textOf(part.text) ?? "" : textOf(part) ?? "").join("")
    : ""

const failures: ReadonlySet<string> = new Set([
  "error",
  "network_error",
  "model_context_window_exceeded",
  "insufficient_system_resource"
])

const isFailure = (finish: string): boolean => failures.has(finish)

const reasons: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  eos: "stop",
  end_turn: "stop",
  complete: "stop",
  completed: "stop",
  stop_sequence: "stop",
  length: "length",
  max_tokens: "length",
  max_output_tokens: "length",
  tool_calls: "tool-calls",
  tool_use: "tool-calls",
  function_call: "tool-calls",
  content_filter: "content-filter",
  safety: "content-filter",
  sensitive: "content-filter"
}

const reasonOf = (finish: string | undefined): FinishReason => {
  const key = finish?.toLowerCase()
  return key !== undefined && Object.hasOwn(reasons, key) ? reasons[key] ?? "unknown" : "unknown"
}

/** Returns `tool-calls` if there are tool calls, whatever finish reason the vendor sends. */
const finishReasonOf = (reason: FinishReason, calls: number): FinishReason => {
  if (calls > 0 && (reason === "stop" || reason === "unknown")) return "tool-calls"
  return reason === "tool-calls" && calls === 0 ? "unknown" : reason
}
