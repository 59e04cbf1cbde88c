/** Assembles an answer from the parts of a model of the AI SDK, streamed or complete. */
import { defined } from "@belay/core/Fields"
import type { JsonObject } from "@belay/core/Json"
import type { LlmDelta, LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { ProviderError } from "@belay/core/ProviderError"
import type { FinishReason } from "@belay/core/Turn"
import type { Usage } from "@belay/core/Usage"
import * as Effect from "effect/Effect"
import { boundedJson, countOf, isObject, textOf } from "../../openai/internal/request/guards.ts"
import * as Errors from "../../openai/internal/response/errors.ts"
import * as Extras from "../../openai/internal/response/extras.ts"
import { filtered, readFinish } from "../../openai/internal/response/finish.ts"
import * as ToolCalls from "../../openai/internal/response/toolCalls.ts"
import * as UsageOf from "../../openai/internal/response/usage.ts"
import { type Piece, remember } from "./parts.ts"

/** The result: a response, the reason why there is none, or the error of the model as the body of an answer. */
type Outcome =
  | { readonly type: "response"; readonly response: LlmResponse }
  | { readonly type: "malformed"; readonly reason: string }
  | { readonly type: "stopped"; readonly error: object }

/** Assembles one answer. */
export interface Assembler {
  /** Adds a part of a stream or of the content. Returns the delta to emit, if there is one. */
  readonly push: (part: unknown) => LlmDelta | undefined
  /** Everything that has arrived so far. */
  readonly partial: () => Partial<LlmResponse>
  readonly end: () => Outcome
}

/** Creates an assembler for the answer to `request`. */
export const make = (request: LlmRequest, provider: string, modelId: string): Assembler => {
  const calls = ToolCalls.make(request, provider, undefined)
  const open = new Map<string, { type: "text" | "reasoning"; length: number; extra?: JsonObject }>()
  const pieces: Array<Piece> = []
  const shown = new Map<string, string>()
  const texts = { text: "", reasoning: "" }
  const extras = Extras.make("wav")
  let count = 0
  let responseId: string | undefined
  let model = modelId
  let usage: Usage | undefined
  let finish: string | undefined
  /** The word of the vendor for it. */
  let rawFinish: string | undefined

  const pieceOf = (type: "text" | "reasoning", id: unknown, metadata: unknown) => {
    const key = `${type} ${String(id)}`
    const known = open.get(key)
    const piece = known ?? { type, length: 0 }
    const extra = boundedJson(metadata)
    // Metadata of the AI SDK is JSON.
    if (isObject(extra)) piece.extra = { ...piece.extra, ...extra as JsonObject }
    if (known === undefined) {
      if (id !== undefined) open.set(key, piece)
      pieces.push(piece)
    }
    return piece
  }
  const add = (type: "text" | "reasoning", id: unknown, said: unknown, metadata: unknown): LlmDelta | undefined => {
    const text = textOf(said) ?? ""
    pieceOf(type, id, metadata).length += text.length
    texts[type] += text
    return text === "" ? undefined : { type, text }
  }
  const callDelta = (id: unknown, argsText: unknown): LlmDelta | undefined => {
    const name = shown.get(String(id))
    return name === undefined
      ? undefined
      : { type: "tool-call", id: String(id), name, argsText: textOf(argsText) ?? "" }
  }
  const partial = (): Partial<LlmResponse> => ({
    ...defined({ id: responseId }),
    model,
    text: texts.text,
    ...(texts.reasoning === "" ? {} : { reasoning: texts.reasoning }),
    ...(usage === undefined ? {} : { usage })
  })
  return {
    partial,
    push: (part) => {
      if (!isObject(part)) return undefined
      const { id, providerMetadata } = part
      switch (part.type) {
        case "text":
        case "reasoning":
          return add(part.type, undefined, part.text, providerMetadata)
        case "text-start":
        case "text-delta":
          return add("text", id, part.delta, providerMetadata)
        case "reasoning-start":
        case "reasoning-delta":
          return add("reasoning", id, part.delta, providerMetadata)
        case "text-end":
        case "reasoning-end": {
          const type = part.type === "text-end" ? "text" : "reasoning"
          pieceOf(type, id, providerMetadata)
          open.delete(`${type} ${String(id)}`)
          return undefined
        }
        case "tool-input-start":
          if (part.providerExecuted === true) return undefined
          shown.set(String(id), textOf(part.toolName) ?? "")
          return callDelta(id, "")
        case "tool-input-delta":
          return callDelta(id, part.delta)
        case "source":
          extras.addAnnotations([part.sourceType === "url" ? part : { ...part, file_id: id }])
          return undefined
        case "file": {
          const url = urlOf(part.data, textOf(part.mediaType) ?? "")
          if (url !== undefined) extras.addFile(url, textOf(part.mediaType) ?? "application/octet-stream")
          return undefined
        }
        case "tool-result":
          extras.addHostedCall(part)
          return undefined
        case "tool-call": {
          if (part.providerExecuted === true) {
            extras.addHostedCall(part)
            return undefined
          }
          const { input, toolCallId, toolName } = part
          calls.push({
            index: count++,
            id: toolCallId,
            function: { name: toolName, arguments: input },
            extra_content: providerMetadata
          })
          if (shown.has(String(toolCallId))) return undefined
          shown.set(String(toolCallId), textOf(toolName) ?? "")
          return callDelta(toolCallId, input)
        }
        case "response-metadata":
          model = textOf(part.modelId) ?? model
          responseId = textOf(id) ?? responseId
          return undefined
        case "finish":
          finish = isObject(part.finishReason) ? textOf(part.finishReason.unified) : textOf(part.finishReason)
          rawFinish = isObject(part.finishReason) ? textOf(part.finishReason.raw) : undefined
          usage = usageOf(part.usage)
          return undefined
        default:
          return undefined
      }
    },
    end: () => {
      if (finish === undefined) return { type: "malformed", reason: "the answer ended before it was complete" }
      const isNothing = texts.text === "" && texts.reasoning === "" && count === 0 &&
        Object.keys(extras.fields()).length === 0
      if (isNothing && rawFinish === undefined && emptyReasons.has(finish)) {
        return { type: "malformed", reason: "the answer is empty, and the vendor does not say why" }
      }
      const failure = rawFinish === undefined ? undefined : readFinish(rawFinish).failure
      if (finish === "error" || finish === "interrupted" || failure !== undefined) {
        return {
          type: "stopped",
          error: failure ?? { error: { message: `the model stopped: ${rawFinish ?? finish}` } }
        }
      }
      const found = calls.end(finish === "length" || finish === "content-filter" ? "unclear" : "complete")
      if (found.problem !== undefined) return { type: "malformed", reason: found.problem }
      if (finish === "content-filter" && texts.text === "" && found.calls.length === 0) {
        return { type: "stopped", error: filtered(rawFinish ?? finish) }
      }
      const response = {
        model,
        text: texts.text,
        toolCalls: found.calls,
        finishReason: reasonOf(finish, found.calls.length)
      }
      return {
        type: "response",
        response: { ...response, ...partial(), ...extras.fields(), ...remember(provider, pieces, texts) }
      }
    }
  }
}

/** What models report if an answer has no reason to stop. */
const emptyReasons: ReadonlySet<string> = new Set(["interrupted", "other", "unknown"])

/** Returns a file as a URL. The versions of the AI SDK have several forms of data. */
const urlOf = (data: unknown, mediaType: string): string | undefined => {
  if (data instanceof Uint8Array) return `data:${mediaType};base64,${toBase64(data)}`
  if (isObject(data)) return data.type === "url" ? String(data.url) : urlOf(data.data, mediaType)
  return textOf(data) === undefined ? undefined : `data:${mediaType};base64,${String(data)}`
}

const toBase64 = (bytes: Uint8Array): string => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))

/** Succeeds with the response, or fails with the reason why there is none. */
export const settle = (source: Errors.Source, answer: Assembler): Effect.Effect<LlmResponse, ProviderError> => {
  const outcome = answer.end()
  switch (outcome.type) {
    case "response":
      return Effect.succeed(outcome.response)
    case "malformed":
      return Effect.fail(Errors.malformedError(source, outcome.reason, { partial: answer.partial() }))
    case "stopped":
      return Effect.fail(
        Errors.classify(source, {
          status: 200,
          headers: {},
          text: JSON.stringify(outcome.error),
          partial: answer.partial()
        })
      )
  }
}

/** Returns `tool-calls` if there are tool calls, whatever finish reason the model gives. */
const reasonOf = (finish: string, calls: number): FinishReason => {
  if (finish === "length" || finish === "content-filter") return finish
  return calls > 0 ? "tool-calls" : finish === "stop" ? "stop" : "unknown"
}

const usageOf = (given: unknown): Usage | undefined => {
  if (!isObject(given)) return undefined
  const [input, output] = [given.inputTokens, given.outputTokens]
  const inputTokens = countOf(isObject(input) ? input.total : input)
  const outputTokens = countOf(isObject(output) ? output.total : output)
  if (inputTokens === undefined && outputTokens === undefined) return undefined
  const cachedTokens = countOf(isObject(input) ? input.cacheRead : given.cachedInputTokens)
  const cacheWriteTokens = countOf(isObject(input) ? input.cacheWrite : undefined)
  const reasoningTokens = countOf(isObject(output) ? output.reasoning : given.reasoningTokens)
  // The raw usage of the vendor, if it has the usual form. It can contain a price, and a total that is more than the
  // sum of its parts.
  const { billableOutputTokens = 0, costUsd = countOf(given.costUsd) } = UsageOf.readUsage(given.raw) ?? {}
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    billableOutputTokens: Math.max(
      outputTokens ?? 0,
      billableOutputTokens,
      (countOf(given.totalTokens) ?? 0) - (inputTokens ?? 0)
    ),
    ...defined({ cachedTokens, cacheWriteTokens, reasoningTokens, costUsd })
  }
}
