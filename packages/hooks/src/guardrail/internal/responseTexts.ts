/** The texts in responses and JSON: to search them, and to replace them. */
import type { Json } from "@belay/core/Json"
import type { LlmResponse } from "@belay/core/LlmCall"

/** The texts of a response; with `toolCalls` also the texts in the arguments of its tool calls. */
export const responseTexts = (response: LlmResponse, toolCalls: boolean): ReadonlyArray<string> => {
  const texts = [response.text, response.reasoning, response.refusal]
  if (toolCalls) {
    for (const { args, malformed } of response.toolCalls) texts.push(...textsOf(args), malformed)
  }
  return texts.filter((text) => text !== undefined)
}

/** Applies `replace` to each text of a response. */
export const mapResponseTexts = (
  response: LlmResponse,
  toolCalls: boolean,
  replace: (text: string) => string
): LlmResponse => {
  const { reasoning, refusal } = response
  let mapped: LlmResponse = { ...response, text: replace(response.text) }
  if (reasoning !== undefined) mapped = { ...mapped, reasoning: replace(reasoning) }
  if (refusal !== undefined) mapped = { ...mapped, refusal: replace(refusal) }
  if (!toolCalls) return mapped
  return {
    ...mapped,
    toolCalls: response.toolCalls.map((call) => {
      const changed = { ...call, args: mapTexts(call.args, replace) }
      return call.malformed === undefined ? changed : { ...changed, malformed: replace(call.malformed) }
    })
  }
}

/** All texts in a JSON value, with the keys of its objects. */
export const textsOf = (value: Json): ReadonlyArray<string> => {
  if (typeof value === "string") return [value]
  if (typeof value !== "object" || value === null) return []
  if (Array.isArray(value)) return value.flatMap(textsOf)
  return Object.entries(value).flatMap(([key, item]) => [key, ...textsOf(item)])
}

/** Applies `replace` to all texts in a JSON value, with the keys of its objects. */
export const mapTexts = (value: Json, replace: (text: string) => string): Json => {
  if (typeof value === "string") return replace(value)
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, replace))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [replace(key), mapTexts(item, replace)]))
}
