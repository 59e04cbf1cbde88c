/**
 * Checks what a provider returned before anybody believes it. A provider may be a program without types, and a vendor
 * may answer anything.
 */
import { type LlmResponse } from "../../../data/LlmCall.ts"
import { Malformed } from "../../../data/ProviderError.ts"

/** Returns the error for an answer that is not a response, or nothing. */
export const whyMalformed = (provider: string, response: LlmResponse): Malformed | undefined => {
  const problem = problemOf(response)
  if (problem === undefined) return undefined
  return new Malformed({ provider, message: `${provider} returned something that is not a response: ${problem}` })
}

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
