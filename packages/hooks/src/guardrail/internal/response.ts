/** Everything a model wrote in a response, to be searched and to be replaced. */
import type { Json } from "@belay/core/Json"
import type { LlmResponse } from "@belay/core/LlmCall"

/** The texts of a response; with `toolCalls` also the strings (and keys) in the arguments of its tool calls. */
export const texts = (response: LlmResponse, toolCalls: boolean): ReadonlyArray<string> => [
  response.text,
  ...(response.reasoning === undefined ? [] : [response.reasoning]),
  ...(response.refusal === undefined ? [] : [response.refusal]),
  ...(toolCalls
    ? response.toolCalls.flatMap((
      { args, malformed }
    ) => [...strings(args), ...(malformed === undefined ? [] : [malformed])])
    : [])
]

/** The response with `f` applied to each of its texts. */
export const redacted = (response: LlmResponse, toolCalls: boolean, f: (text: string) => string): LlmResponse => ({
  ...response,
  text: f(response.text),
  ...(response.reasoning === undefined ? {} : { reasoning: f(response.reasoning) }),
  ...(response.refusal === undefined ? {} : { refusal: f(response.refusal) }),
  ...(toolCalls
    ? {
      toolCalls: response.toolCalls.map((call) => ({
        ...call,
        args: mapped(call.args, f),
        ...(call.malformed === undefined ? {} : { malformed: f(call.malformed) })
      }))
    }
    : {})
})

/** The texts of JSON, keys too. */
export const strings = (value: Json): ReadonlyArray<string> =>
  typeof value === "string"
    ? [value]
    : typeof value !== "object" || value === null
    ? []
    : Array.isArray(value)
    ? value.flatMap(strings)
    : Object.entries(value).flatMap(([key, item]) => [key, ...strings(item)])

/** JSON with `f` applied to its texts, keys too. */
export const mapped = (value: Json, f: (text: string) => string): Json =>
  typeof value === "string"
    ? f(value)
    : typeof value !== "object" || value === null
    ? value
    : Array.isArray(value)
    ? value.map((item) => mapped(item, f))
    : Object.fromEntries(Object.entries(value).map(([key, item]) => [f(key), mapped(item, f)]))
