/** The answer of a model of the AI SDK as an answer of Belay, and back. */
import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage
} from "@ai-sdk/provider"
import type { Json } from "@belay/core/Json"
import type { LlmResponse } from "@belay/core/LlmCall"
import type { ToolCall } from "@belay/core/Message"
import type { Usage } from "@belay/core/Usage"
import * as Result from "effect/Result"

/** What of a result the guard reads. */
export type Answer = Pick<LanguageModelV4GenerateResult, "content" | "finishReason" | "usage">

/** Reads an answer. It leaves out tools that the vendor runs, because nobody here can stop them. */
export const readAnswer = ({ content, finishReason, usage }: Answer, model: string): LlmResponse => {
  const reasoning = reasoningOf(content)
  const used = usageOf(usage)
  return {
    model,
    text: textOf(content),
    toolCalls: content.flatMap((part) => isOwnCall(part) ? [callOf(part)] : []),
    finishReason: reasons[finishReason.unified] ?? "unknown",
    ...(used === undefined ? {} : { usage: used }),
    ...(reasoning === "" ? {} : { reasoning })
  }
}

const reasons: { readonly [unified: string]: LlmResponse["finishReason"] } = {
  stop: "stop",
  length: "length",
  "content-filter": "content-filter",
  "tool-calls": "tool-calls"
}

const textOf = (content: ReadonlyArray<LanguageModelV4Content>): string =>
  content.flatMap((part) => part.type === "text" ? [part.text] : []).join("")

const reasoningOf = (content: ReadonlyArray<LanguageModelV4Content>): string =>
  content.flatMap((part) => part.type === "reasoning" ? [part.text] : []).join("")

const isOwnCall = (part: LanguageModelV4Content): part is LanguageModelV4ToolCall =>
  part.type === "tool-call" && part.providerExecuted !== true

const callOf = ({ input, toolCallId: id, toolName: name }: LanguageModelV4ToolCall): ToolCall => {
  const read = Result.try(() => JSON.parse(input === "" ? "{}" : input) as Json)
  return Result.isSuccess(read) ? { id, name, args: read.success } : { id, name, args: null, malformed: input }
}

const usageOf = ({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage | undefined => {
  const { cacheRead, cacheWrite, total: input } = inputTokens
  const { reasoning, total: output } = outputTokens
  if (input === undefined && output === undefined) return undefined
  return {
    inputTokens: input ?? 0,
    outputTokens: output ?? 0,
    ...(cacheRead === undefined ? {} : { cachedTokens: cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWriteTokens: cacheWrite }),
    ...(reasoning === undefined ? {} : { reasoningTokens: reasoning })
  }
}

/** Puts what the hooks have changed into the content. Reasoning that they have changed loses what the vendor signed. */
export const writeContent = (
  content: ReadonlyArray<LanguageModelV4Content>,
  { reasoning = "", text, toolCalls }: Pick<LlmResponse, "reasoning" | "text" | "toolCalls">
): Array<LanguageModelV4Content> => {
  const isSameText = textOf(content) === text
  const isSameReasoning = reasoningOf(content) === reasoning
  const reasoningAt = reasoning === "" ? -1 : content.findIndex(({ type }) => type === "reasoning")
  const textAt = content.findIndex(({ type }) => type === "text")
  const said: ReadonlyArray<LanguageModelV4Content> = isSameText || text === "" ? [] : [{ type: "text", text }]
  const kept = content.flatMap((part, index): ReadonlyArray<LanguageModelV4Content> => {
    if (part.type === "text") return isSameText ? [part] : index === textAt ? said : []
    if (part.type === "reasoning" && !isSameReasoning) {
      return index === reasoningAt ? [{ type: "reasoning", text: reasoning }] : []
    }
    if (!isOwnCall(part)) return [part]
    const call = toolCalls.find(({ id }) => id === part.toolCallId)
    if (call === undefined) return []
    const before = callOf(part)
    const isSame = before.name === call.name && JSON.stringify(before.args) === JSON.stringify(call.args)
    return [isSame ? part : { ...part, toolName: call.name, input: JSON.stringify(call.args) }]
  })
  const known = new Set(content.flatMap((part) => isOwnCall(part) ? [part.toolCallId] : []))
  const added = toolCalls.filter(({ id }) => !known.has(id)).map(({ args, id, name }): LanguageModelV4ToolCall => ({
    type: "tool-call",
    toolCallId: id,
    toolName: name,
    input: JSON.stringify(args)
  }))
  return [...(textAt < 0 ? said : []), ...kept, ...added]
}

/** An answer that no model has given: of a hook, or the reason why the turn has ended. */
export const ownAnswer = (text: string, raw: string): LanguageModelV4GenerateResult => ({
  content: [{ type: "text", text }],
  finishReason: { unified: "stop", raw },
  usage: noUsage,
  warnings: []
})

/** The reason why an answer of these calls ends. */
export const finishOf = (
  before: LanguageModelV4FinishReason,
  { finishReason, toolCalls }: LlmResponse
): LanguageModelV4FinishReason => {
  if (before.unified === "tool-calls" && toolCalls.length === 0) return { unified: "stop", raw: "guard" }
  if (finishReason === "tool-calls" && before.unified !== "tool-calls") return { unified: "tool-calls", raw: "guard" }
  return before
}

const noUsage: LanguageModelV4Usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined }
}
