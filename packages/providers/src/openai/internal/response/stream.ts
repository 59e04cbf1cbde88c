/** Assembles an answer from the chunks of a chat completion, or from a complete one. */
import type { Json } from "@belay/core/Json"
import type { LlmDelta, LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { FinishReason } from "@belay/core/Turn"
import type { Usage } from "@belay/core/Usage"
import { audioFormatOf } from "../request/features.ts"
import { boundedJson, compact, isObject, type Loose, textOf } from "../request/guards.ts"
import type { HeaderMap } from "../request/headers.ts"
import * as Reasoning from "../request/reasoning.ts"
import * as Extras from "./extras.ts"
import { filtered, readFinish } from "./finish.ts"
import { readRateLimits } from "./rateLimits.ts"
import * as Think from "./think.ts"
import * as ToolCalls from "./toolCalls.ts"
import * as UsageOf from "./usage.ts"

/** The result: a response, an error body of the vendor, or a violation of the protocol. */
export type Outcome<A = LlmResponse> =
  | { readonly type: "response"; readonly response: A }
  | { readonly type: "error"; readonly body: unknown }
  | { readonly type: "malformed"; readonly reason: string }

/** Assembles one answer. */
export interface Assembler<A = LlmResponse> {
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
  /** Adds what the headers of the answer say. */
  readonly complete?: (response: A, headers: HeaderMap) => A
  /** Returns the result. `isDone` means that the vendor marked the end of the stream. */
  readonly end: (isDone: boolean) => Outcome<A>
}

/** Adds the limits of the account to a response. */
export const withRateLimits = (response: LlmResponse, headers: HeaderMap): LlmResponse => {
  const rateLimits = readRateLimits(headers)
  return rateLimits === undefined ? response : { ...response, rateLimits }
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
  let extras: Extras.Extras | undefined
  let id: string | undefined
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
  let isWhole = false
  /** The message beside a delta. It counts only if no delta carries anything. */
  let beside: Loose | undefined
  /** The last chunk with sources. Some vendors repeat them in every chunk. */
  let sources: Loose | undefined
  let callPieces = 0
  /** How much had arrived when usage came for the first time, if it came alone. */
  let usageAt: number | undefined
  let choiceIndex: unknown

  /** Most answers have no extras. */
  const more = (): Extras.Extras => extras ??= Extras.make(audioFormatOf(request, emit !== undefined))
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
      if (content.length > 0 && content.every(isData)) addText(compact(content))
      else for (const part of content) addPart(part)
    } else if (isData(content)) addText(compact(content))
    else addPart(content)
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
    if (message.annotations !== undefined) more().addAnnotations(message.annotations)
    if (message.images !== undefined) more().addImages(message.images)
    if (isObject(message.audio)) addContent(more().addAudio(message.audio))
    if (Array.isArray(message.executed_tools)) message.executed_tools.filter(isObject).forEach(more().addHostedCall)
    if (typeof message.refusal === "string") refusal += message.refusal
    if (message.tool_calls !== undefined && message.tool_calls !== null) {
      callPieces++
      if (Array.isArray(message.tool_calls)) { for (const piece of message.tool_calls) calls.push(piece) }
      else calls.push(message.tool_calls)
    }
    const legacy = message.function_call
    if (isObject(legacy) && (textOf(legacy.name) !== undefined || calls.count() > 0)) {
      callPieces++
      calls.push({ index: "function_call", function: legacy })
    }
    if (isObject(message.extra_content)) extra = boundedJson(message.extra_content)
  }
  const addChoice = (choice: Loose): void => {
    hasChoice = true
    choiceIndex ??= choice.index
    if (choice.index !== choiceIndex) return
    if (isObject(choice.delta)) {
      if (!hasDelta && carriesSomething(choice.delta)) hasDelta = true
      addMessage(choice.delta)
      if (isObject(choice.message)) beside = choice.message
    } else if (isObject(choice.message)) {
      isWhole = true
      if (!hasDelta) addMessage(choice.message)
    } else if (!hasDelta) addContent(choice.text)
    finish = textOf(choice.finish_reason) ?? finish
    if (isObject(choice.logprobs)) more().addLogprobs(choice.logprobs.content)
    if (choice.usage !== undefined && choice.usage !== null) addUsage(choice.usage)
  }
  const addUsage = (given: unknown): void => {
    usage = UsageOf.readUsage(given) ?? usage
  }
  const arrived = (): number => text.length + reasoning.length + callPieces
  const push = (chunk: unknown): unknown => {
    if (!isObject(chunk)) return Array.isArray(chunk) ? chunk.find((item) => errorIn(item) !== undefined) : undefined
    if (typeof chunk.model === "string" && chunk.model !== "") model = chunk.model
    id ??= textOf(chunk.id)
    const before = usage
    const size = before === undefined ? arrived() : 0
    if (Array.isArray(chunk.choices)) {
      for (const choice of chunk.choices) if (isObject(choice)) addChoice(choice)
    }
    if (chunk.usage !== undefined && chunk.usage !== null) addUsage(chunk.usage)
    if (isObject(chunk.x_groq)) addUsage(chunk.x_groq.usage)
    if (chunk.citations !== undefined || chunk.search_results !== undefined || chunk.web_search !== undefined) {
      sources = chunk
    }
    if (usage !== before) usageAt = before === undefined && size > 0 && size === arrived() ? size : undefined
    return errorIn(chunk)
  }
  const settle = (): void => {
    if (!hasDelta && !isWhole && beside !== undefined) {
      isWhole = true
      addMessage(beside)
    }
    if (sources !== undefined) {
      for (const name of ["search_results", "citations", "web_search"]) more().addSources(sources[name])
    }
    const rest = think.end()
    if (rest.reasoning !== "") addReasoning(rest.reasoning)
    if (rest.text !== "") showText(rest.text)
    const unopened = reasoning === "" && text.includes("</think>") ? Think.splitUnopened(text) : undefined
    if (unopened !== undefined) ({ reasoning, text } = unopened)
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
    ...(id === undefined ? {} : { id }),
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
    complete: withRateLimits,
    partial: shown,
    end: (isDone) => {
      // Some vendors send usage once, as the last chunk, and no other end.
      const isEnded = isDone || finish !== undefined || (usageAt !== undefined && usageAt === arrived())
      settle()
      const { failure, reason } = readFinish(finish)
      if (failure !== undefined) return { type: "error", body: failure }
      if (!hasChoice) return { type: "malformed", reason: "the answer has no choices" }
      if (!isEnded) return { type: "malformed", reason: "the stream ended before the answer was complete" }
      const found = calls.end(completenessOf(reason, finish === undefined && isDone, isWhole))
      if (found.problem !== undefined) return { type: "malformed", reason: found.problem }
      if (reason === "unknown" && found.cut.length > 0) {
        return {
          type: "malformed",
          reason: `a tool call is not complete, and the finish reason is ${finish ?? "missing"}`
        }
      }
      const response: LlmResponse = {
        ...shown(),
        toolCalls: found.calls,
        finishReason: finishReasonOf(reason, found.calls.length),
        ...extras?.fields(),
        ...metadata(found.cut)
      }
      return isFilteredOut(response) ? { type: "error", body: filtered(finish ?? "") } : { type: "response", response }
    }
  }
}

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

const textIn = (value: unknown): string =>
  typeof value === "string"
    ? value
    : Array.isArray(value)
    ? value.map((part) => isObject(part) ? textOf(part.text) ?? "" : textOf(part) ?? "").join("")
    : ""

/** Whether the vendor says that the tool calls of an answer are complete. */
const completenessOf = (reason: FinishReason, isMarked: boolean, isWhole: boolean): ToolCalls.Completeness => {
  if (reason === "stop" || reason === "tool-calls") return "complete"
  if (!isMarked || reason !== "unknown") return "unclear"
  return isWhole ? "complete" : "marked"
}

const isFilteredOut = ({ files, finishReason, refusal, text, toolCalls }: LlmResponse): boolean =>
  finishReason === "content-filter" && text === "" && toolCalls.length === 0 && refusal === undefined &&
  files === undefined

const carriesSomething = (delta: Loose): boolean =>
  Object.keys(delta).some((key) => key !== "role" && !isBlank(delta[key]))

const isBlank = (value: unknown): boolean =>
  value === null || value === undefined || value === "" ||
  (typeof value === "object" && Object.keys(value).length === 0)

const partTypes: ReadonlySet<unknown> = new Set(
  "text output_text input_text thinking reasoning refusal image_url image file audio input_audio reference".split(" ")
)

/** Whether content is the JSON that was asked for, and not a part of a message. */
const isData = (content: unknown): boolean =>
  isObject(content) && typeof content.text !== "string" && !partTypes.has(content.type) && !isBlank(content)

/** Returns `tool-calls` if there are tool calls, whatever finish reason the vendor sends. */
const finishReasonOf = (reason: FinishReason, calls: number): FinishReason => {
  if (calls > 0 && (reason === "stop" || reason === "unknown")) return "tool-calls"
  return reason === "tool-calls" && calls === 0 ? "unknown" : reason
}
