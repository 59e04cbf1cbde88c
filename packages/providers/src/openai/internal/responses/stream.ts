/** Assembles an answer from the events of a Responses stream, or from a complete response. */
import type { Json, JsonObject } from "@belay/core/Json"
import type { LlmDelta, LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import { audioFormatOf } from "../request/features.ts"
import { boundedJson, compact, isObject, type Loose, textOf } from "../request/guards.ts"
import * as Extras from "../response/extras.ts"
import { type Ending, filtered, readFinish } from "../response/finish.ts"
import { type Assembler, type Outcome, withRateLimits } from "../response/stream.ts"
import * as ToolCalls from "../response/toolCalls.ts"
import * as Usage from "../response/usage.ts"
import { continuation } from "./stored.ts"

/** Creates an assembler for the answer to `request`. */
export const make = (
  request: LlmRequest,
  provider: string,
  emit: ((delta: LlmDelta) => void) | undefined,
  stores = false
): Assembler => {
  const calls = ToolCalls.make(request, provider, emit)
  const keys = new Map<unknown, Call>()
  const items: Array<Loose> = []
  const extras = Extras.make(audioFormatOf(request, emit !== undefined))
  let latest: Call | undefined
  let id: string | undefined
  let summaryPart: string | undefined
  let model = ""
  let text = ""
  let reasoning = ""
  let refusal = ""
  let last: Loose | undefined

  const addText = (piece: string): void => {
    if (piece === "") return
    text += piece
    emit?.({ type: "text", text: piece })
  }
  const addReasoning = (piece: string): void => {
    if (piece === "") return
    reasoning += piece
    emit?.({ type: "reasoning", text: piece })
  }
  /** Adds a piece of a summary. Its parts are paragraphs. */
  const addSummary = (event: Loose): void => {
    const part = `${String(event.item_id ?? event.output_index)} ${String(event.summary_index ?? event.content_index)}`
    const piece = textOf(event.delta) ?? ""
    if (summaryPart !== undefined && summaryPart !== part && piece !== "" && reasoning !== "") {
      addReasoning(paragraph)
    }
    if (piece !== "") summaryPart = part
    addReasoning(piece)
  }
  /**
   * Finds the call of an event. Some servers change item ids between events and others send no index, so the call id
   * counts first, then the index, then the item id.
   */
  const callOf = (item: Loose, index: unknown): Call => {
    const names = [textOf(item.call_id), typeof index === "number" ? index : undefined, textOf(item.id)].filter((
      name
    ) => name !== undefined)
    const known = names.map((name) => keys.get(name)).find((call) => call !== undefined)
    const found: Call = known ?? { key: keys.size, hasArguments: false }
    for (const name of names) keys.set(name, found)
    if (known === undefined) {
      calls.push({ index: found.key, id: item.call_id ?? item.id, function: { name: item.name, arguments: "" } })
    }
    latest = found
    return found
  }
  const addArguments = (call: Call | undefined, piece: unknown): void => {
    if (call === undefined || typeof piece !== "string" || piece === "") return
    call.hasArguments = true
    calls.push({ index: call.key, function: { arguments: piece } })
  }
  const itemDone = (item: Loose, index: unknown): void => {
    items.push(item)
    if (item.type !== "function_call") return
    const call = callOf(item, index)
    if (!call.hasArguments) {
      addArguments(call, typeof item.arguments === "string" ? item.arguments : compact(item.arguments ?? ""))
    }
    if (item.status === "completed") calls.push({ index: call.key, isDone: true })
  }
  const finished = (response: Loose): void => {
    last = response
    id = textOf(response.id) ?? id
    if (typeof response.model === "string" && response.model !== "") model = response.model
    const output = Array.isArray(response.output) ? response.output.filter(isObject) : []
    for (const item of output) if (item.type === "function_call") itemDone(item, undefined)
    const isListed = output.length > 0
    for (const item of isListed ? output : items) addExtras(item)
    for (const item of output) {
      const isKept = item.type === "reasoning" || searchItems.has(textOf(item.type) ?? "")
      if (isKept && !items.some((other) => other.id === item.id)) items.push(item)
    }
    if (text === "" && refusal === "") { for (const item of output) readMessage(item) }
    if (reasoning === "") {
      addReasoning(
        output.map((item) => item.type === "reasoning" ? reasoningOf(item) : "").filter((part) => part !== "").join(
          paragraph
        )
      )
    }
  }
  const addExtras = (item: Loose): void => {
    if (Extras.isHostedCall(item)) extras.addHostedCall(item)
    const picture = item.type === "image_generation_call" ? textOf(item.result) : undefined
    if (picture !== undefined) {
      const mediaType = `image/${textOf(item.output_format) ?? "png"}`
      extras.addFile(`data:${mediaType};base64,${picture}`, mediaType)
    }
    if (item.type !== "message" || !Array.isArray(item.content)) return
    for (const part of item.content.filter(isObject)) {
      extras.addAnnotations(part.annotations)
      extras.addLogprobs(part.logprobs)
    }
  }
  const readMessage = (item: Loose): void => {
    if (item.type !== "message" || !Array.isArray(item.content)) return
    for (const part of item.content) {
      if (!isObject(part)) continue
      if (part.type === "refusal") refusal += textOf(part.refusal) ?? ""
      else addText(textOf(part.text) ?? "")
    }
    if (!items.includes(item)) items.push(item)
  }
  const push = (event: unknown): unknown => {
    if (!isObject(event)) return undefined
    if (event.object === "response") return whole(event)
    const type = textOf(event.type) ?? ""
    const item = isObject(event.item) ? event.item : undefined
    switch (type) {
      case "response.output_text.delta":
        addText(textOf(event.delta) ?? "")
        return undefined
      case "response.refusal.delta":
        refusal += textOf(event.delta) ?? ""
        return undefined
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
      case "response.reasoning.delta":
        addSummary(event)
        return undefined
      case "response.output_item.added":
        if (item?.type === "function_call") callOf(item, event.output_index)
        return undefined
      case "response.function_call_arguments.delta":
        addArguments(keys.get(event.output_index) ?? keys.get(event.item_id) ?? latest, event.delta)
        return undefined
      case "response.output_item.done":
        if (item !== undefined) itemDone(item, event.output_index)
        return undefined
      case "response.completed":
      case "response.incomplete":
      case "response.done":
        return isObject(event.response) ? whole(event.response) : undefined
      case "response.failed":
      case "error":
        return event
      case "response.created":
        if (isObject(event.response)) id = textOf(event.response.id)
        return undefined
      default:
        return event.error !== undefined && event.error !== null ? event : undefined
    }
  }
  const whole = (response: Loose): unknown => {
    if (response.status === "failed" || isObject(response.error)) return response
    finished(response)
    return undefined
  }
  const shown = () => {
    const usage = Usage.readUsage(last?.usage)
    return {
      ...(id === undefined ? {} : { id }),
      model: model === "" ? request.model ?? "" : model,
      text,
      ...(usage === undefined ? {} : { usage }),
      ...(reasoning === "" ? {} : { reasoning }),
      ...(refusal === "" ? {} : { refusal })
    }
  }
  return {
    push,
    pushText: addText,
    choice: () => undefined,
    isFinished: () => last !== undefined,
    complete: withRateLimits,
    partial: shown,
    end: (): Outcome => {
      if (last === undefined) return { type: "malformed", reason: "the stream ended before the response was complete" }
      if (typeof last.status === "string" && unfinished.has(last.status)) {
        return { type: "malformed", reason: `the response has the status ${last.status}` }
      }
      const { failure, reason } = endingOf(last)
      if (failure !== undefined) return { type: "error", body: failure }
      const found = calls.end(reason === "stop" ? "complete" : "unclear")
      if (found.problem !== undefined) return { type: "malformed", reason: found.problem }
      if (reason === "unknown" && found.cut.length > 0) {
        return { type: "malformed", reason: "a tool call is not complete, and the response is incomplete" }
      }
      if (reason === "content-filter" && text === "" && found.calls.length === 0 && refusal === "") {
        return { type: "error", body: filtered("content_filter") }
      }
      const finishReason = found.calls.length > 0 && reason === "stop" ? "tool-calls" : reason
      return {
        type: "response",
        response: {
          ...shown(),
          toolCalls: found.calls,
          finishReason,
          ...extras.fields(),
          ...metadata(
            stores ? [] : items,
            found.cut,
            provider,
            stores ? continuation(request.messages, { ...shown(), toolCalls: found.calls }) : {}
          )
        }
      }
    }
  }
}

/** Without these items, the model of the next request would not know the tools that it has found. */
const searchItems: ReadonlySet<string> = new Set(["tool_search_call", "tool_search_output"])

/** Between the parts of reasoning. */
const paragraph = "\n\n"

const unfinished: ReadonlySet<string> = new Set(["queued", "in_progress", "cancelled", "canceled"])

/** A tool call that is being streamed. */
interface Call {
  readonly key: number
  hasArguments: boolean
}

const endingOf = (response: Loose): Ending => {
  if (response.status !== "incomplete") return { reason: "stop" }
  const reason = isObject(response.incomplete_details) ? response.incomplete_details.reason : undefined
  if (reason === "max_output_tokens") return { reason: "length" }
  if (reason === "content_filter") return { reason: "content-filter" }
  return { ...readFinish(textOf(reason)), reason: "unknown" }
}

const reasoningOf = (item: Loose): string => {
  const parts = [item.summary, item.content].find((list) => Array.isArray(list) && list.length > 0)
  return Array.isArray(parts) ? parts.map((part) => isObject(part) ? textOf(part.text) ?? "" : "").join(paragraph) : ""
}

/**
 * Keeps what the vendor needs again: the tools that its search has found, and encrypted or signed reasoning. Vendors
 * refuse other reasoning, because they do not store it.
 */
const metadata = (
  items: ReadonlyArray<Loose>,
  cut: ToolCalls.AssembledCalls["cut"],
  provider: string,
  more: JsonObject
): Pick<LlmResponse, "metadata"> => {
  const sealed = items
    .filter(({ encrypted_content: encrypted, signature, type }) =>
      type === "reasoning" ? textOf(encrypted ?? signature) !== undefined : searchItems.has(textOf(type) ?? "")
    )
    .map(boundedJson)
    .filter((item) => item !== undefined)
  const phase = items.map((item) => item.type === "message" ? textOf(item.phase) : undefined).findLast((found) =>
    found !== undefined
  )
  const own: Record<string, Json> = {
    ...more,
    ...(sealed.length === 0 ? {} : { reasoningItems: sealed }),
    ...(phase === undefined ? {} : { phase }),
    ...(cut.length === 0 ? {} : { cutToolCalls: cut.map(({ argsText, name }) => ({ name, argsText })) })
  }
  return Object.keys(own).length === 0 ? {} : { metadata: { [provider]: own } }
}
