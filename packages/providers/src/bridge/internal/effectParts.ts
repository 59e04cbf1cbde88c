/** Converts answers between Belay and `effect/ai` in both directions. */
import { defined } from "@belay/core/Fields"
import type { JsonObject } from "@belay/core/Json"
import type { LlmDelta, LlmResponse } from "@belay/core/LlmCall"
import type { Usage } from "@belay/core/Usage"
import type * as Response from "effect/ai/Response"
import { isObject, type Loose } from "../../openai/internal/request/guards.ts"
import { type Left, mark } from "./effectPrompt.ts"

/** Converts a part of `effect/ai` for the assembler of the AI SDK. The two differ in a few names. */
export const toAiSdkPart = (part: unknown): unknown => {
  if (!isObject(part)) return part
  const { metadata } = part
  const left: Loose = isObject(metadata) && Object.keys(metadata).length > 0 ? { providerMetadata: metadata } : {}
  const { delta, id, modelId, name, params, providerExecuted, reason, text, usage } = part
  switch (part.type) {
    case "tool-params-start":
      return { type: "tool-input-start", id, toolName: name, providerExecuted }
    case "tool-params-delta":
      return { type: "tool-input-delta", id, delta }
    case "tool-call":
      return { type: "tool-call", toolCallId: id, toolName: name, input: params, providerExecuted, ...left }
    case "finish":
      return {
        type: "finish",
        finishReason: reason,
        usage: isObject(usage) ? { ...usage, costUsd: leftOn(metadata).costUsd } : usage
      }
    default:
      return { type: part.type, id, delta, text, modelId, ...left }
  }
}

const leftOn = (metadata: unknown): Loose => isObject(metadata) && isObject(metadata[mark]) ? metadata[mark] : {}

type Metadata = Record<string, JsonObject>

const leave = (left: Left): { metadata?: Metadata } =>
  // All fields of `left` are JSON.
  left.message === undefined && left.call === undefined ? {} : { metadata: { [mark]: { ...left } as JsonObject } }

/** Converts an answer to the parts of a complete response. */
export const whole = (response: LlmResponse): Array<Response.PartEncoded> => {
  const message = leave(response.metadata === undefined ? {} : { message: response.metadata })
  const { reasoning, text } = response
  const parts: Array<Response.PartEncoded> = []
  if (reasoning !== undefined) parts.push({ type: "reasoning", text: reasoning, ...message })
  if (text !== "") parts.push({ type: "text", text, ...message })
  return [
    { type: "response-metadata", ...defined({ id: response.id }), modelId: response.model },
    ...parts,
    ...calls(response, parts.length === 0),
    finish(response)
  ]
}

/** Converts tool calls. The first one carries the metadata of the message if no part before it can. */
const calls = (response: LlmResponse, isFirst: boolean): ReadonlyArray<Response.ToolCallPartEncoded> =>
  response.toolCalls.map(({ args, id, metadata, name }, index) => ({
    type: "tool-call",
    id,
    name,
    params: args,
    ...leave({
      ...(metadata === undefined ? {} : { call: metadata }),
      ...(isFirst && index === 0 && response.metadata !== undefined ? { message: response.metadata } : {})
    })
  }))

const finish = ({ finishReason, usage }: LlmResponse): Response.FinishPartEncoded => ({
  type: "finish",
  reason: finishReason,
  usage: usageOf(usage),
  // Their usage has no field for a price.
  ...(usage?.costUsd === undefined ? {} : { metadata: { [mark]: { costUsd: usage.costUsd } } })
})

/** Unknown counts are left out and never zero. Counts of `effect/ai` are whole numbers. */
const usageOf = (usage: Usage | undefined): Response.FinishPartEncoded["usage"] => {
  if (usage === undefined) return { inputTokens: {}, outputTokens: {} }
  const total = Math.round(usage.inputTokens)
  const output = Math.round(Math.max(usage.outputTokens, usage.billableOutputTokens ?? 0))
  const cacheRead = usage.cachedTokens === undefined ? undefined : Math.round(usage.cachedTokens)
  const reasoning = usage.reasoningTokens === undefined ? undefined : Math.round(usage.reasoningTokens)
  return {
    inputTokens: { total, ...(cacheRead === undefined ? {} : { cacheRead, uncached: Math.max(0, total - cacheRead) }) },
    outputTokens: {
      total: output,
      ...(reasoning === undefined ? {} : { reasoning, text: Math.max(0, output - reasoning) })
    }
  }
}

/** Converts the deltas of one answer to the parts of a stream. */
export interface Streamer {
  readonly delta: (delta: LlmDelta) => ReadonlyArray<Response.StreamPartEncoded>
  readonly end: (response: LlmResponse) => ReadonlyArray<Response.StreamPartEncoded>
}

export const streamer = (): Streamer => {
  let open: { readonly type: "text" | "reasoning"; readonly id: string } | undefined
  let count = 0
  const tools = new Set<string>()
  const close = (message: { metadata?: Metadata } = {}): ReadonlyArray<Response.StreamPartEncoded> => {
    if (open === undefined) return []
    const { id, type } = open
    open = undefined
    return [{ type: `${type}-end`, id, ...message }]
  }
  const say = (type: "text" | "reasoning", delta: string): ReadonlyArray<Response.StreamPartEncoded> => {
    if (open?.type === type) return [{ type: `${type}-delta`, id: open.id, delta }]
    const before = close()
    const id = `${type}-${count++}`
    open = { type, id }
    return [...before, { type: `${type}-start`, id }, { type: `${type}-delta`, id, delta }]
  }
  return {
    delta: (delta) => {
      if (delta.type !== "tool-call") return say(delta.type, delta.text)
      const { argsText, id, name } = delta
      const start: ReadonlyArray<Response.StreamPartEncoded> = tools.has(id)
        ? []
        : [{ type: "tool-params-start", id, name }]
      tools.add(id)
      return [...start, { type: "tool-params-delta", id, delta: argsText }]
    },
    end: (response) => {
      // A provider that cannot stream has emitted no delta.
      const unsaid: ReadonlyArray<Response.StreamPartEncoded> = count > 0 ? [] : [
        ...(response.reasoning === undefined ? [] : say("reasoning", response.reasoning)),
        ...(response.text === "" ? [] : say("text", response.text))
      ]
      const isFirst = open === undefined
      return [
        ...unsaid,
        ...close(leave(response.metadata === undefined ? {} : { message: response.metadata })),
        ...[...tools].map((id) => ({ type: "tool-params-end" as const, id })),
        { type: "response-metadata", ...defined({ id: response.id }), modelId: response.model },
        ...calls(response, isFirst),
        finish(response)
      ]
    }
  }
}
