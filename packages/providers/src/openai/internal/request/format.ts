/** Requests answers that are JSON with a schema, in one of three ways, and reads them in one way. */
import type { LlmDelta, LlmRequest, LlmResponse, ResponseFormat } from "@belay/core/LlmCall"
import type { DeltaSink } from "@belay/core/LlmProvider"
import type { ProviderError } from "@belay/core/ProviderError"
import type { ToolMeta } from "@belay/core/Tool"
import * as Effect from "effect/Effect"
import type { Compat } from "./compat.ts"
import { isObject, parse } from "./guards.ts"
import { stringify } from "./message.ts"

type Send = (request: LlmRequest, sink: DeltaSink | undefined) => Effect.Effect<LlmResponse, ProviderError>

/**
 * Sends a request with a response format in the way that the endpoint accepts. The text of the response is the JSON.
 * Calls `onIgnored` if the endpoint accepted the format and answered with something else.
 */
export const sendWithFormat = (
  request: LlmRequest,
  compat: Compat,
  sink: DeltaSink | undefined,
  send: Send,
  onIgnored: () => void = () => {}
) =>
  Effect.map(sendIn(request, compat, sink, send), (response) => {
    if (!followsFormat(response, request.parameters.responseFormat!)) onIgnored()
    return response
  })

/** Whether an answer is an object with the required fields, or no final answer. */
const followsFormat = (
  { finishReason, refusal, text, toolCalls }: LlmResponse,
  { schema }: ResponseFormat
): boolean => {
  const isFinal = finishReason === "stop" || finishReason === "unknown"
  if (!isFinal || toolCalls.length > 0 || refusal !== undefined || text === "") return true
  const value = parse(text)
  if (schema.type !== undefined && schema.type !== "object") return value !== undefined
  return isObject(value) &&
    (!Array.isArray(schema.required) || schema.required.every((key) => Object.hasOwn(value, String(key))))
}

const sendIn = (request: LlmRequest, compat: Compat, sink: DeltaSink | undefined, send: Send) => {
  const format = request.parameters.responseFormat!
  const way = compat.jsonSchema === "native-without-tools"
    ? request.tools.length === 0 ? "native" : "tool"
    : compat.jsonSchema
  switch (way) {
    case "native":
      return Effect.map(send(request, sink), tidy)
    case "prompt":
      return Effect.map(send(addFormatInstruction(request, format), sink), tidy)
    case "tool":
      return sendAsToolCall(request, format, sink, send)
  }
}

/** Whether an error means that the endpoint does not know response formats. A rejected schema is a different error. */
export const isUnknown = (error: ProviderError): boolean =>
  error._tag === "InvalidRequest" && /response.?format|json.?schema|text\.format/i.test(error.message) &&
  /support|unavailable|not (?:available|allowed|permitted)|unknown|unrecognized/i.test(error.message) &&
  !/invalid schema/i.test(error.message)

const plainly = ({ responseFormat: _, ...parameters }: LlmRequest["parameters"]): LlmRequest["parameters"] => parameters

const addFormatInstruction = (request: LlmRequest, { name, schema }: ResponseFormat): LlmRequest => {
  const wish = `Your final answer (${name}) must be JSON that fits this JSON Schema, and nothing else:\n${
    stringify(schema)
  }`
  const { instructions = "" } = request
  return {
    ...request,
    instructions: instructions === "" ? wish : `${instructions}\n\n${wish}`,
    parameters: plainly(request.parameters)
  }
}

/** Requests the answer as a call of a tool that only the endpoint sees. */
const sendAsToolCall = (request: LlmRequest, format: ResponseFormat, sink: DeltaSink | undefined, send: Send) => {
  const { parameters, tools } = request
  let { name } = format
  while (tools.some((tool) => tool.name === name)) name += "_"
  const answer: ToolMeta = {
    name,
    description: "Gives the final answer. Call it last, and once.",
    inputSchema: format.schema
  }
  const given = parameters.toolChoice ?? "auto"
  const toolChoice = tools.length === 0 || given === "none" ? { tool: name } : given === "auto" ? "required" : given
  const shaped = { ...request, tools: [...tools, answer], parameters: { ...plainly(parameters), toolChoice } }
  const isAnswer = (delta: LlmDelta): boolean => delta.type === "tool-call" && delta.name === name
  const pipe: DeltaSink | undefined = sink && ((delta) => isAnswer(delta) ? undefined : sink(delta))
  return Effect.flatMap(send(shaped, pipe), (response) => {
    const call = response.toolCalls.find((one) => one.name === name)
    if (call === undefined) return Effect.succeed(tidy(response))
    // Calls of other tools count first, because the model has not seen their results yet.
    const others = response.toolCalls.filter((one) => one.name !== name)
    if (others.length > 0) return Effect.succeed({ ...response, toolCalls: others })
    const text = call.args === null ? call.malformed ?? "" : stringify(call.args)
    const finishReason = response.finishReason === "tool-calls" ? "stop" : response.finishReason
    const answered: LlmResponse = { ...response, text, toolCalls: [], finishReason }
    return sink === undefined
      ? Effect.succeed(answered)
      : Effect.as(Effect.promise(async () => sink({ type: "text", text })), answered)
  })
}

/** Extracts the JSON from code fences and prose. */
const tidy = (response: LlmResponse): LlmResponse => {
  const { text } = response
  if (response.toolCalls.length > 0 || isData(text)) return response
  const fenced = Array.from(text.matchAll(/```(?:json)?\s*\n(.*?)```/gs), ([, inside = ""]) => inside.trim())
  const found = [...fenced, text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1)].find(isData)
  return found === undefined ? response : { ...response, text: found }
}

const isData = (text: string): boolean => isObject(parse(text))
