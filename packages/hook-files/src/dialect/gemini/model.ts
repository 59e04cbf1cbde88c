/** Converts model requests and answers to the format of Gemini CLI hooks and back. */
import type { JsonObject } from "@belay/core/Json"
import type { LlmParameters, LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import { type Message, text, whyInvalid } from "@belay/core/Message"
import type { ToolMeta } from "@belay/core/Tool"
import { type Fields, isFields, isText, reader } from "../../internal/fields.ts"

/**
 * A message with text, which hooks can see, and the messages after it without text (tool calls and their results),
 * which hooks cannot see.
 */
interface Unit {
  readonly role: "user" | "model"
  readonly content: string
  readonly messages: ReadonlyArray<Message>
}

/** The messages before the first message that hooks can see. */
interface Units {
  readonly head: ReadonlyArray<Message>
  readonly units: ReadonlyArray<Unit>
}

const unitsOf = (messages: ReadonlyArray<Message>): Units => {
  const seen = messages.flatMap((message, index) => message.role !== "tool" && text(message) !== "" ? [index] : [])
  return {
    head: messages.slice(0, seen[0] ?? messages.length),
    units: seen.map((from, place) => ({
      role: messages[from]!.role === "assistant" ? "model" : "user",
      content: text(messages[from]!),
      messages: messages.slice(from, seen[place + 1])
    }))
  }
}

/** Converts a request to the format of hooks. */
export const toHookRequest = ({ messages, model, parameters }: LlmRequest): JsonObject => {
  const { maxTokens, stop, temperature, toolChoice = "auto", topP } = parameters
  return {
    model: model ?? "",
    messages: unitsOf(messages).units.map(({ content, role }) => ({ role, content })),
    config: {
      ...(temperature === undefined ? {} : { temperature }),
      ...(topP === undefined ? {} : { topP }),
      ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
      ...(stop === undefined ? {} : { stopSequences: stop })
    },
    toolConfig: typeof toolChoice === "object"
      ? { mode: "ANY", allowedFunctionNames: [toolChoice.tool] }
      : { mode: toolChoice === "none" ? "NONE" : toolChoice === "required" ? "ANY" : "AUTO" }
  }
}

/** Applies the changes of hooks to a request. An invalid change is skipped with a warning. */
export const applyChanges = (request: LlmRequest, wanted: JsonObject, warn: (problem: string) => void): LlmRequest => {
  const { fields, problems, text } = reader()
  const model = text(wanted, "model")
  const config = fields(wanted, "config")
  const messages = wanted["messages"] === undefined ? undefined : rewriteMessages(request, wanted["messages"])
  if (isText(messages)) warn(`llm_request.messages does not count: ${messages}`)
  for (const problem of problems) warn(`llm_request.${problem}`)
  const parameters = config === undefined ? {} : parametersOf(config, warn)
  return {
    ...request,
    ...(model === undefined || model === "" ? {} : { model }),
    ...(messages === undefined || isText(messages) ? {} : messages),
    parameters: { ...request.parameters, ...parameters }
  }
}

const parametersOf = (config: Fields, warn: (problem: string) => void): LlmParameters => {
  const found: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(config)) {
    const known = Object.hasOwn(settings, key) ? settings[key]! : undefined
    if (known?.fits(value) === true) found[known.name] = value
    else if (value !== null) warn(`llm_request.config.${key.slice(0, 80)} does not count`)
  }
  return found
}

const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value)

const settings: {
  readonly [key: string]: { readonly name: keyof LlmParameters; readonly fits: (value: unknown) => boolean }
} = {
  temperature: { name: "temperature", fits: isNumber },
  topP: { name: "topP", fits: isNumber },
  maxOutputTokens: { name: "maxTokens", fits: (value) => Number.isSafeInteger(value) && (value as number) > 0 },
  stopSequences: { name: "stop", fits: (value) => Array.isArray(value) && value.every(isText) }
}

/**
 * Replaces the messages by those of a hook, and keeps the parts of the old messages that hooks cannot see. Returns a
 * text with the reason if the new messages are invalid.
 */
const rewriteMessages = (
  request: LlmRequest,
  wanted: unknown
): Pick<LlmRequest, "messages" | "instructions"> | string => {
  if (!Array.isArray(wanted)) return "expected a list"
  const { head, units } = unitsOf(request.messages)
  const asked = wanted.flatMap((one: unknown) => {
    if (!isFields(one)) return []
    const content = contentOf(one["content"])
    const { role } = one
    return content !== undefined && (role === "user" || role === "model" || role === "system")
      ? [{ role, content }]
      : []
  })
  if (asked.length !== wanted.length) return "expected messages with a role of user, model or system, and a text"
  const system = asked.filter(({ role }) => role === "system").map(({ content }) => content)
  const spoken = asked.flatMap(({ content, role }) => role === "system" ? [] : [{ role, content }])
  const aligned = spoken.length === units.length && spoken.every(({ role }, index) => role === units[index]!.role)
  let next = 0
  const body = spoken.flatMap(({ content, role }, index): ReadonlyArray<Message> => {
    if (aligned) return withContent(units[index]!, content)
    const at = units.findIndex((unit, place) => place >= next && unit.role === role && unit.content === content)
    if (at < 0) return [role === "model" ? { role: "assistant", content } : { role: "user", content }]
    next = at + 1
    return units[at]!.messages
  })
  const messages = [...head, ...body]
  const why = messages.length === 0 ? "no message is left" : whyInvalid(messages)
  if (why !== undefined) return why
  const instructions = [request.instructions, ...system].filter(isText)
  return { messages, ...(system.length === 0 ? {} : { instructions: instructions.join("\n\n") }) }
}

const withContent = (
  { content: before, messages: [first, ...rest] }: Unit,
  content: string
): ReadonlyArray<Message> => {
  if (content === before || first === undefined || first.role === "tool") {
    return first === undefined
      ? rest
      : [first, ...rest]
  }
  if (first.role === "assistant") return [{ ...first, content }, ...rest]
  const files = isText(first.content) ? [] : first.content.filter(({ type }) => type === "file")
  return [{ ...first, content: files.length === 0 ? content : [{ type: "text", text: content }, ...files] }, ...rest]
}

/** Reads content that is a text or a list of parts with texts. */
const contentOf = (content: unknown): string | undefined => {
  if (isText(content)) return content
  if (!Array.isArray(content)) return undefined
  return content.map((part: unknown) =>
    isText(part) ? part : isFields(part) && isText(part["text"]) ? part["text"] : ""
  ).join("")
}

/** Converts a model's answer to the format of hooks. */
export const toHookResponse = ({ finishReason, text, toolCalls, usage }: LlmResponse): JsonObject => ({
  text,
  candidates: [{
    content: { role: "model", parts: text === "" ? [] : [text] },
    finishReason: toolCalls.length > 0 ? "STOP" : finishReasons[finishReason] ?? "OTHER",
    index: 0
  }],
  ...(usage === undefined ? {} : {
    usageMetadata: {
      promptTokenCount: usage.inputTokens,
      candidatesTokenCount: usage.outputTokens,
      totalTokenCount: usage.inputTokens + usage.outputTokens
    }
  })
})

const finishReasons: { readonly [reason: string]: string } = {
  stop: "STOP",
  "tool-calls": "STOP",
  length: "MAX_TOKENS",
  "content-filter": "SAFETY"
}

/** Reads the text and the finish reason of an answer that a hook wrote. Returns undefined if it has no text. */
export const answerOf = (response: JsonObject): Pick<LlmResponse, "text" | "finishReason"> | undefined => {
  const candidates = response["candidates"]
  const first: unknown = Array.isArray(candidates) ? candidates[0] : undefined
  const candidate = isFields(first) ? first : {}
  const { content, finishReason } = candidate
  const parts = isFields(content) ? contentOf(content["parts"]) : contentOf(content)
  const text = parts || (isText(response["text"]) ? response["text"] : undefined)
  if (text === undefined || text === "") return undefined
  return {
    text,
    finishReason: finishReason === "MAX_TOKENS" ? "length" : finishReason === "SAFETY" ? "content-filter" : "stop"
  }
}

/** Limits the tools that the model can see, and sets whether it has to call one. */
export const selectTools = (
  request: LlmRequest,
  { allowed = [], mode }: { readonly mode?: "AUTO" | "ANY" | "NONE"; readonly allowed?: ReadonlyArray<string> },
  namesOf: (tool: ToolMeta) => ReadonlyArray<string>
): LlmRequest => {
  const wanted = new Set(allowed)
  const tools = mode === "NONE"
    ? []
    : wanted.size === 0
    ? request.tools
    : request.tools.filter((tool) => namesOf(tool).some((name) => wanted.has(name)))
  const { toolChoice, ...rest } = request.parameters
  const choice = mode === "ANY" ? "required" : toolChoice
  const gone = typeof choice === "object" && !tools.some(({ name }) => name === choice.tool)
  const parameters = tools.length === 0 || choice === undefined || gone ? rest : { ...rest, toolChoice: choice }
  return { ...request, tools, parameters }
}
