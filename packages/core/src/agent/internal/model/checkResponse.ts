/**
 * Reads what a provider returned before anybody believes it. A provider may be a program without types, and a vendor
 * may answer anything of any size. Hooks and stores take time for every character, call and value, so their number is
 * limited here.
 */
import * as Schema from "effect/Schema"
import { isPlain as isPlainObject, whyNot } from "../../../data/Json.ts"
import type { LlmResponse } from "../../../data/LlmCall.ts"
import { Citation, FilePart, type ToolCall } from "../../../data/Message.ts"
import { Malformed } from "../../../data/ProviderError.ts"
import type { Usage } from "../../../data/Usage.ts"
import type { Limits } from "../../Limits.ts"

/** The maximum number of tool calls in an answer, unless a turn may have more. */
const maxCalls = 1_000

/** The maximum number of values in the arguments of all calls of an answer. */
const maxValues = 50_000

/** The maximum number of levels of an argument, as in `whyNot`. */
const maxDepth = 64

/**
 * Returns the response, or the error for an answer that is not a response or too large. Arguments that are not JSON, or
 * nested too deep, become `null`, and the call is malformed.
 */
export const readResponse = (
  provider: string,
  response: LlmResponse,
  { textLength, toolCalls }: Pick<Limits, "textLength" | "toolCalls">
): LlmResponse | Malformed => {
  const isPlain = isPlainAnswer(response)
  if (isPlain && isSmall(response, textLength)) return response
  const problem = isPlain ? undefined : problemOf(response)
  if (problem !== undefined) {
    return new Malformed({ provider, message: `${provider} returned something that is not a response: ${problem}` })
  }
  const size: Size = { characters: lengthOf(response), values: 0, maxCharacters: textLength }
  const calls = response.toolCalls
  const max = Math.max(maxCalls, toolCalls)
  const isReadable = calls.length <= max && calls.every((call) => measureCall(call, size))
  const why = calls.length > max
    ? `it has ${calls.length} tool calls, and at most ${max} are read`
    : isTooLong(size)
    ? `it has more than ${textLength} characters. To read longer ones, raise \`limits.textLength\``
    : isTooWide(size)
    ? `the arguments of its calls have more than ${maxValues} values`
    : undefined
  if (why === undefined) return isReadable ? response : { ...response, toolCalls: calls.map(withReadableArgs) }
  // The vendor bills an answer that nobody reads.
  const { model, usage } = response
  const partial = usage === undefined ? { model } : { model, usage }
  return new Malformed({ provider, message: `${provider} returned a response that is too large: ${why}`, partial })
}

/** Recognizes most answers without counting everything (`npm run bench -- turn`). */
const isSmall = ({ text, toolCalls }: LlmResponse, textLength: number): boolean => {
  const max = Math.min(textLength, maxCalls * valueWeight)
  let weight = text.length
  for (const { args, id, name } of toolCalls) {
    weight += id.length + name.length + valueWeight + weightOf(args, 0)
    // It is not a number if the arguments are not JSON.
    if (!(weight <= max)) return false
  }
  return weight <= max
}

/** An answer of less than `maxCalls` times this has neither too many calls nor too many values. */
const valueWeight = 50

const weightOf = (value: unknown, depth: number): number => {
  if (typeof value === "string") return valueWeight + value.length
  if (typeof value !== "object" || value === null) return isScalar(value) ? valueWeight : Number.NaN
  if (depth >= maxDepth || !isPlainObject(value)) return Number.NaN
  const isList = Array.isArray(value)
  let weight = valueWeight
  for (const key of Object.keys(value)) {
    // It is an object, so any key may be read.
    const child = (value as Fields)[key]
    if (child !== undefined || isList) weight += key.length + weightOf(child, depth + 1)
  }
  return weight
}

/** Replaces arguments that are not JSON, or nested too deep. */
export const withReadableArgs = (call: ToolCall): ToolCall => {
  const why = whyNot(call.args)
  return why === undefined ? call : { ...call, args: null, malformed: call.malformed ?? why }
}

/** The error for a stream that is longer than an answer may be. */
export const streamTooLong = (provider: string, { textLength }: Pick<Limits, "textLength">): Malformed =>
  new Malformed({
    provider,
    message: `${provider} streamed more than ${textLength} characters. To read more, raise \`limits.textLength\``,
    // The vendor did not report what the call costs.
    partial: {}
  })

/** What was counted so far. */
interface Size {
  characters: number
  values: number
  readonly maxCharacters: number
}

const isTooLong = ({ characters, maxCharacters }: Size): boolean => characters > maxCharacters
const isTooWide = ({ values }: Size): boolean => values > maxValues

const lengthOf = ({ citations = [], files = [], reasoning, refusal, text }: LlmResponse): number =>
  text.length + (reasoning === undefined ? 0 : reasoning.length) + (refusal === undefined ? 0 : refusal.length) +
  files.reduce((sum, { url }) => sum + url.length, 0) +
  citations.reduce((sum, one) => sum + JSON.stringify(one).length, 0)

/** Adds a call to the size. Returns whether its arguments are JSON. Stops when the size is too large. */
const measureCall = ({ args, id, malformed, name }: ToolCall, size: Size): boolean => {
  size.characters += id.length + name.length + (malformed === undefined ? 0 : malformed.length)
  return measure(args, 0, size)
}

const measure = (value: unknown, depth: number, size: Size): boolean => {
  size.values++
  if (typeof value === "string") size.characters += value.length
  if (typeof value !== "object" || value === null) return isScalar(value)
  if (depth >= maxDepth || isTooLong(size) || isTooWide(size) || !isPlainObject(value)) return false
  const isList = Array.isArray(value)
  let isReadable = true
  for (const key of Object.keys(value)) {
    // It is an object, so any key may be read.
    const child = (value as Fields)[key]
    if (!isList) size.characters += key.length
    if (!measure(child, depth + 1, size) && (child !== undefined || isList)) isReadable = false
    if (isTooLong(size) || isTooWide(size)) return false
  }
  return isReadable
}

const isScalar = (value: unknown): boolean =>
  value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)

/** Recognizes most answers without a look at every field (`npm run bench -- turn`). */
const isPlainAnswer = (response: LlmResponse | null | undefined): boolean => {
  if (response === null || response === undefined || response.reasoning !== undefined) return false
  if (response.files !== undefined || response.citations !== undefined) return false
  const { finishReason, id, model, refusal, text, toolCalls, usage } = response
  return typeof text === "string" && typeof model === "string" && typeof finishReason === "string" &&
    (id === undefined || typeof id === "string") && refusal === undefined &&
    // `every` would skip the holes of a list.
    Array.isArray(toolCalls) && toolCalls.findIndex((call) => !isPlainCall(call)) === -1 &&
    (usage === undefined || isPlainUsage(usage))
}

const isPlainCall = (call: ToolCall | null | undefined): boolean =>
  call !== null && call !== undefined && typeof call.id === "string" && typeof call.name === "string" &&
  call.malformed === undefined

const isPlainUsage = (usage: Usage | null): boolean =>
  usage !== null && isAmount(usage.inputTokens) && isAmount(usage.outputTokens) &&
  isAmountOrAbsent(usage.billableOutputTokens) && isAmountOrAbsent(usage.cachedTokens) &&
  isAmountOrAbsent(usage.cacheWriteTokens) && isAmountOrAbsent(usage.reasoningTokens) &&
  isAmountOrAbsent(usage.costUsd)

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
  if (response.files !== undefined && !isFiles(response.files)) return `files is not a list of files`
  if (response.citations !== undefined && !isCitations(response.citations)) {
    return `citations is not a list of citations`
  }
  return usage === undefined ? undefined : problemOfUsage(usage)
}

const isFiles = Schema.is(Schema.Array(FilePart))
const isCitations = Schema.is(Schema.Array(Citation))

const texts = ["id", "reasoning", "refusal"]

/** The arguments are checked when the call is kept: those that are not JSON are shown to the model. */
const problemOfCall = (call: unknown): string | undefined => {
  if (!isFields(call)) return ` is ${show(call)}`
  const { id, malformed, name } = call
  if (typeof id !== "string") return `.id is ${show(id)}`
  if (typeof name !== "string") return `.name is ${show(name)}`
  return malformed === undefined || typeof malformed === "string" ? undefined : `.malformed is ${show(malformed)}`
}

/** Returns what a failed call reported. A usage that is none counts as not reported. */
export const readPartial = (partial: Partial<LlmResponse>): Partial<LlmResponse> => {
  if (!isFields(partial)) return {}
  if (partial.usage === undefined || problemOfUsage(partial.usage) === undefined) return partial
  const { usage: _unreadable, ...rest } = partial
  return rest
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
const optional = ["cachedTokens", "cacheWriteTokens", "reasoningTokens", "billableOutputTokens", "costUsd"]

/** Negative amounts would give budgets something back, and sums of larger ones would be infinite or lose tokens. */
const isAmount = (value: unknown): boolean => typeof value === "number" && value >= 0 && value <= maxAmount
const isAmountOrAbsent = (value: unknown): boolean => value === undefined || isAmount(value)
const maxAmount = Number.MAX_SAFE_INTEGER

const show = (value: unknown): string => {
  if (value === null || value === undefined || typeof value === "number") return String(value)
  return Array.isArray(value) ? "a list" : `a ${typeof value}`
}
