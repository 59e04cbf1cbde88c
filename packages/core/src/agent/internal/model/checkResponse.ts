/**
 * Checks what a provider returned before anybody believes it. A provider may be a program without types, and a vendor
 * may answer anything.
 */
import type { LlmResponse } from "../../../data/LlmCall.ts"
import type { ToolCall } from "../../../data/Message.ts"
import { Malformed } from "../../../data/ProviderError.ts"
import type { Usage } from "../../../data/Usage.ts"

/** Returns the error for an answer that is not a response, or nothing. */
export const whyMalformed = (provider: string, response: LlmResponse): Malformed | undefined => {
  if (isPlainAnswer(response)) return undefined
  const problem = problemOf(response)
  if (problem === undefined) return undefined
  return new Malformed({ provider, message: `${provider} returned something that is not a response: ${problem}` })
}

/** Recognizes most answers without a look at every field (`npm run bench -- turn`). */
const isPlainAnswer = (response: LlmResponse | null | undefined): boolean => {
  if (response === null || response === undefined || response.reasoning !== undefined) return false
  const { finishReason, id, model, refusal, text, toolCalls, usage } = response
  return typeof text === "string" && typeof model === "string" && typeof finishReason === "string" &&
    (id === undefined || typeof id === "string") && refusal === undefined &&
    Array.isArray(toolCalls) && toolCalls.every(isPlainCall) && (usage === undefined || isPlainUsage(usage))
}

const isPlainCall = (call: ToolCall | null | undefined): boolean =>
  call !== null && call !== undefined && typeof call.id === "string" && typeof call.name === "string" &&
  call.malformed === undefined

const isPlainUsage = (usage: Usage | null): boolean =>
  usage !== null && usage.inputTokens >= 0 && usage.inputTokens < Infinity && usage.outputTokens >= 0 &&
  usage.outputTokens < Infinity && typeof usage.inputTokens === "number" && typeof usage.outputTokens === "number" &&
  usage.cachedTokens === undefined && usage.reasoningTokens === undefined &&
  usage.billableOutputTokens === undefined && usage.costUsd === undefined

type Fields = { readonly [key: string]: unknown }

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null

/** Describes the first problem, with its path. */
const problemOf = (response: unknown): string | undefined => {
  if (!isFields(response)) return `it is ${show(response)}`
  const { finishReason, model, text, toolCalls, usage } = response
  if (typeof text !== "string") return `text is ${show(text)}`
  if (typeof model !== "string") return `model is ${show(model)}`
  if (typeof finishReason !== "string") return `finishReason is ${show(finishReason)}`
  if (!Array.isArray(toolCalls)) return `toolCalls is ${show(toolCalls)}`
  for (const key of texts) {
    const value = response[key]
    if (value !== undefined && typeof value !== "string") return `${key} is ${show(value)}`
  }
  for (let index = 0; index < toolCalls.length; index++) {
    const problem = problemOfCall(toolCalls[index])
    if (problem !== undefined) return `toolCalls[${index}]${problem}`
  }
  return usage === undefined ? undefined : problemOfUsage(usage)
}

const texts = ["id", "reasoning", "refusal"]

/** The arguments are checked when the call is kept: those that are not JSON are shown to the model. */
const problemOfCall = (call: unknown): string | undefined => {
  if (!isFields(call)) return ` is ${show(call)}`
  const { id, malformed, name } = call
  if (typeof id !== "string") return `.id is ${show(id)}`
  if (typeof name !== "string") return `.name is ${show(name)}`
  return malformed === undefined || typeof malformed === "string" ? undefined : `.malformed is ${show(malformed)}`
}

const problemOfUsage = (usage: unknown): string | undefined => {
  if (!isFields(usage)) return `usage is ${show(usage)}`
  for (const key of required) if (!isAmount(usage[key])) return `usage.${key} is ${show(usage[key])}`
  for (const key of optional) {
    if (usage[key] !== undefined && !isAmount(usage[key])) return `usage.${key} is ${show(usage[key])}`
  }
  return undefined
}

const required = ["inputTokens", "outputTokens"]
const optional = ["cachedTokens", "reasoningTokens", "billableOutputTokens", "costUsd"]

/** Negative amounts would give budgets something back. */
const isAmount = (value: unknown): boolean => typeof value === "number" && value >= 0 && value < Infinity

const show = (value: unknown): string => {
  if (value === null || value === undefined || typeof value === "number") return String(value)
  return Array.isArray(value) ? "a list" : `a ${typeof value}`
}
