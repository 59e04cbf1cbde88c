/** Assembles an answer from the chunks of a chat completion, or from a complete one. */
import type { Json } from "@belay/core/Json"
import type { LlmDelta, LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { Usage } from "@belay/core/Usage"
import { audioFormatOf } from "../request/features.ts"
import { boundedJson, compact, isObject, type Loose, textOf } from "../request/guards.ts"
import type { HeaderMap } from "../request/headers.ts"
import * as Reasoning from "../request/reasoning.ts"
import { carriesSomething, completenessOf, errorIn, finishReasonOf, isData, isFilteredOut, textIn } from "./chunk.ts"
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

type Emit = ((delta: LlmDelta) => void) | undefined

/** Creates an assembler for the answer to `request`. It passes deltas to `emit` as they arrive. */
export const make = (request: LlmRequest, provider: string, emit: Emit): Assembler =>
  new ChatAssembler(request, provider, emit)

/** A class, because every answer has one. What only some answers need is made when it is needed. */
class ChatAssembler implements Assembler {
  private readonly request: LlmRequest
  private readonly provider: string
  private readonly emit: Emit
  private calls: ToolCalls.Collector | undefined = undefined
  private think: Think.ThinkSplitter | undefined = undefined
  private details: Array<Record<string, unknown>> | undefined = undefined
  private extras: Extras.Extras | undefined = undefined
  private id: string | undefined = undefined
  private model = ""
  private text = ""
  private reasoning = ""
  private refusal = ""
  private field: string | undefined = undefined
  private extra: Json | undefined = undefined
  private usage: Usage | undefined = undefined
  private finish: string | undefined = undefined
  private hasChoice = false
  private hasDelta = false
  private isWhole = false
  /** The message beside a delta. It counts only if no delta carries anything. */
  private beside: Loose | undefined = undefined
  /** The last chunk with sources. Some vendors repeat them in every chunk. */
  private sources: Loose | undefined = undefined
  private choiceIndex: unknown = undefined

  constructor(request: LlmRequest, provider: string, emit: Emit) {
    this.request = request
    this.provider = provider
    this.emit = emit
  }

  push(chunk: unknown): unknown {
    if (!isObject(chunk)) return Array.isArray(chunk) ? chunk.find((item) => errorIn(item) !== undefined) : undefined
    if (typeof chunk.model === "string" && chunk.model !== "") this.model = chunk.model
    this.id ??= textOf(chunk.id)
    if (Array.isArray(chunk.choices)) {
      for (const choice of chunk.choices) if (isObject(choice)) this.addChoice(choice)
    }
    if (chunk.usage !== undefined && chunk.usage !== null) this.addUsage(chunk.usage)
    if (isObject(chunk.x_groq)) this.addUsage(chunk.x_groq.usage)
    if (chunk.citations !== undefined || chunk.search_results !== undefined || chunk.web_search !== undefined) {
      this.sources = chunk
    }
    return errorIn(chunk)
  }
  pushText(piece: string): void {
    this.addText(piece)
  }
  choice(): unknown {
    return this.choiceIndex
  }
  isFinished(): boolean {
    return this.finish !== undefined
  }
  complete(response: LlmResponse, headers: HeaderMap): LlmResponse {
    return withRateLimits(response, headers)
  }
  partial(): Pick<LlmResponse, "id" | "model" | "text" | "usage" | "reasoning" | "refusal"> {
    const { id, model, reasoning, refusal, request, text, usage } = this
    return {
      ...(id === undefined ? undefined : { id }),
      model: model === "" ? request.model ?? "" : model,
      text,
      ...(usage === undefined ? undefined : { usage }),
      ...(reasoning === "" ? undefined : { reasoning }),
      ...(refusal === "" ? undefined : { refusal })
    }
  }
  end(isDone: boolean): Outcome {
    const { finish } = this
    const isEnded = isDone || finish !== undefined
    this.settle()
    const { failure, reason } = readFinish(finish)
    if (failure !== undefined) return { type: "error", body: failure }
    if (!this.hasChoice) return { type: "malformed", reason: "the answer has no choices" }
    if (!isEnded) return { type: "malformed", reason: "the stream ended before the answer was complete" }
    const found: ToolCalls.AssembledCalls =
      this.calls?.end(completenessOf(reason, finish === undefined && isDone, this.isWhole)) ?? { calls: [], cut: [] }
    if (found.problem !== undefined) return { type: "malformed", reason: found.problem }
    if (reason === "unknown" && found.cut.length > 0) {
      return {
        type: "malformed",
        reason: `a tool call is not complete, and the finish reason is ${finish ?? "missing"}`
      }
    }
    const response: LlmResponse = {
      ...this.partial(),
      toolCalls: found.calls,
      finishReason: finishReasonOf(reason, found.calls.length),
      ...this.extras?.fields(),
      ...this.metadata(found.cut)
    }
    return isFilteredOut(response) ? { type: "error", body: filtered(finish ?? "") } : { type: "response", response }
  }

  private get toolCalls(): ToolCalls.Collector {
    return this.calls ??= ToolCalls.make(this.request, this.provider, this.emit)
  }
  private get more(): Extras.Extras {
    return this.extras ??= Extras.make(audioFormatOf(this.request, this.emit !== undefined))
  }
  private addText(piece: string): void {
    const think = this.think ??= Think.make()
    if (think.isText()) return this.showText(piece)
    const split = think.push(piece)
    if (split.reasoning !== "") this.addReasoning(split.reasoning)
    if (split.text !== "") this.showText(split.text)
  }
  private showText(piece: string): void {
    this.text += piece
    if (this.emit !== undefined) this.emit({ type: "text", text: piece })
  }
  private addReasoning(piece: string): void {
    this.reasoning += piece
    if (this.emit !== undefined) this.emit({ type: "reasoning", text: piece })
  }
  private addContent(content: unknown): void {
    if (typeof content === "string") {
      if (content !== "") this.addText(content)
    } else if (Array.isArray(content)) {
      if (content.length > 0 && content.every(isData)) this.addText(compact(content))
      else for (const part of content) this.addPart(part)
    } else if (isData(content)) this.addText(compact(content))
    else this.addPart(content)
  }
  private addPart(part: unknown): void {
    if (typeof part === "string") return this.addContent(part)
    if (!isObject(part)) return
    if (part.type === "thinking" || part.type === "reasoning") {
      this.field ??= "content"
      const piece = textIn(part.thinking ?? part.reasoning ?? part.text)
      if (piece !== "") this.addReasoning(piece)
    } else if (part.type === "refusal") this.refusal += textOf(part.refusal) ?? ""
    else this.addContent(part.text)
  }
  private addMessage(message: Loose): void {
    const thought = Reasoning.readReasoning(message)
    if (thought !== undefined) {
      this.field ??= thought.field
      if (thought.field === this.field) this.addReasoning(thought.text)
    }
    if (message.reasoning_details !== undefined) {
      Reasoning.joinDetails(this.details ??= [], message.reasoning_details)
    }
    this.addContent(message.content)
    if (message.annotations !== undefined) this.more.addAnnotations(message.annotations)
    if (message.images !== undefined) this.more.addImages(message.images)
    if (isObject(message.audio)) this.addContent(this.more.addAudio(message.audio))
    if (Array.isArray(message.executed_tools)) {
      message.executed_tools.filter(isObject).forEach(this.more.addHostedCall)
    }
    if (typeof message.refusal === "string") this.refusal += message.refusal
    this.addCalls(message)
    if (isObject(message.extra_content)) this.extra = boundedJson(message.extra_content)
  }
  private addCalls({ function_call: legacy, tool_calls: given }: Loose): void {
    if (given !== undefined && given !== null) {
      if (Array.isArray(given)) { for (const piece of given) this.toolCalls.push(piece) }
      else this.toolCalls.push(given)
    }
    if (!isObject(legacy)) return
    if (textOf(legacy.name) === undefined && (this.calls === undefined || this.calls.count() === 0)) return
    this.toolCalls.push({ index: "function_call", function: legacy })
  }
  private addChoice(choice: Loose): void {
    this.hasChoice = true
    this.choiceIndex ??= choice.index
    if (choice.index !== this.choiceIndex) return
    if (isObject(choice.delta)) {
      if (!this.hasDelta && carriesSomething(choice.delta)) this.hasDelta = true
      this.addMessage(choice.delta)
      if (isObject(choice.message)) this.beside = choice.message
    } else if (isObject(choice.message)) {
      this.isWhole = true
      if (!this.hasDelta) this.addMessage(choice.message)
    } else if (!this.hasDelta) this.addContent(choice.text)
    this.finish = textOf(choice.finish_reason) ?? this.finish
    if (isObject(choice.logprobs)) this.more.addLogprobs(choice.logprobs.content)
    if (choice.usage !== undefined && choice.usage !== null) this.addUsage(choice.usage)
  }
  private addUsage(given: unknown): void {
    this.usage = UsageOf.readUsage(given) ?? this.usage
  }
  private settle(): void {
    if (!this.hasDelta && !this.isWhole && this.beside !== undefined) {
      this.isWhole = true
      this.addMessage(this.beside)
    }
    if (this.sources !== undefined) {
      for (const name of ["search_results", "citations", "web_search"]) this.more.addSources(this.sources[name])
    }
    const rest = this.think?.end()
    if (rest !== undefined && rest.reasoning !== "") this.addReasoning(rest.reasoning)
    if (rest !== undefined && rest.text !== "") this.showText(rest.text)
    if (this.reasoning !== "" || !this.text.includes("</think>")) return
    const unopened = Think.splitUnopened(this.text)
    if (unopened === undefined) return
    this.reasoning = unopened.reasoning
    this.text = unopened.text
  }
  private metadata(cut: ToolCalls.AssembledCalls["cut"]): Pick<LlmResponse, "metadata"> | undefined {
    const { details, extra, field } = this
    if (details === undefined && extra === undefined && field === undefined && cut.length === 0) return undefined
    const kept = details === undefined || details.length === 0 ? undefined : boundedJson(details)
    const own: Record<string, Json> = {
      ...(field === undefined ? {} : { reasoningField: field }),
      ...(kept === undefined ? {} : { reasoningDetails: kept }),
      ...(extra === undefined ? {} : { extra_content: extra }),
      ...(cut.length === 0 ? {} : { cutToolCalls: cut.map(({ argsText, name }) => ({ name, argsText })) })
    }
    return Object.keys(own).length === 0 ? undefined : { metadata: { [this.provider]: own } }
  }
}
