/** Decodes the body of a chat completion request and checks it as a vendor would. */
import type { Json, JsonObject } from "@belay/core/Json"

/** A tool call in a message. `args` is the text that the model wrote. */
export interface WireToolCall {
  readonly id: string
  readonly name: string
  readonly args: string
}

/** A message of the request. */
export interface WireMessage {
  readonly role: "system" | "developer" | "user" | "assistant" | "tool"
  readonly content: Json
  readonly toolCalls?: ReadonlyArray<WireToolCall>
  readonly toolCallId?: string
}

/** A tool of the request. */
export interface WireTool {
  readonly name: string
  readonly description: string
  readonly parameters: JsonObject
}

/** A decoded request. */
export interface WireRequest {
  readonly model: string
  readonly messages: ReadonlyArray<WireMessage>
  readonly tools: ReadonlyArray<WireTool>
  readonly toolChoice?: "auto" | "none" | "required" | { readonly tool: string }
  /** JSON Schema of the answer for `response_format: json_schema`. */
  readonly schema?: JsonObject
  readonly stream: boolean
  readonly includeUsage: boolean
  readonly maxTokens?: number
}

/** A problem with a request. */
export interface WireProblem {
  readonly message: string
  readonly param: string | null
  readonly code?: string
}

/** Returns the text of a message without parts that are not text. */
export const wireText = (message: WireMessage | undefined): string => {
  if (message === undefined || message.content === null) return ""
  if (typeof message.content === "string") return message.content
  if (!Array.isArray(message.content)) return JSON.stringify(message.content)
  return message.content.map((part) => isObject(part) && typeof part.text === "string" ? part.text : "").join("")
}

/** Decodes a body, or says what is wrong with it. */
export const decode = (body: Json): WireRequest | WireProblem => {
  if (!isObject(body)) return { message: "The body must be a JSON object.", param: null }
  if (typeof body.model !== "string" || body.model === "") {
    return { message: "you must provide a model parameter", param: "model" }
  }
  if (!Array.isArray(body.messages) || body.messages.length === 0) {
    return { message: "'messages' must be a non-empty array.", param: "messages" }
  }
  const messages: Array<WireMessage> = []
  for (const [index, given] of body.messages.entries()) {
    const decoded = message(given, index)
    if (isProblem(decoded)) return decoded
    messages.push(decoded)
  }
  const tools: Array<WireTool> = []
  for (const [index, given] of (Array.isArray(body.tools) ? body.tools : []).entries()) {
    const decoded = tool(given, index)
    if (isProblem(decoded)) return decoded
    tools.push(decoded)
  }
  if (tools.length === 0 && (body.tool_choice !== undefined || body.parallel_tool_calls !== undefined)) {
    const param = body.tool_choice === undefined ? "parallel_tool_calls" : "tool_choice"
    return { message: `Invalid value for '${param}': '${param}' is only allowed when 'tools' are specified.`, param }
  }
  const problem = transcriptProblem(messages)
  if (problem !== undefined) return problem
  return { model: body.model, messages, tools, stream: body.stream === true, ...options(body) }
}

/** Whether decoding found something wrong. */
export const isProblem = (value: object): value is WireProblem => "param" in value

const options = (body: JsonObject) => {
  const choice = toolChoice(body.tool_choice)
  const format = isObject(body.response_format) && isObject(body.response_format.json_schema)
    ? body.response_format.json_schema.schema
    : undefined
  const maxTokens = body.max_completion_tokens ?? body.max_tokens
  return {
    includeUsage: isObject(body.stream_options) && body.stream_options.include_usage === true,
    ...(choice === undefined ? {} : { toolChoice: choice }),
    ...(isObject(format) ? { schema: format } : {}),
    ...(typeof maxTokens === "number" ? { maxTokens } : {})
  }
}

const toolChoice = (given: Json | undefined): WireRequest["toolChoice"] => {
  if (given === "auto" || given === "none" || given === "required") return given
  return isObject(given) && isObject(given.function) && typeof given.function.name === "string"
    ? { tool: given.function.name }
    : undefined
}

const roles: ReadonlySet<string> = new Set<WireMessage["role"]>(["system", "developer", "user", "assistant", "tool"])

const message = (given: Json, index: number): WireMessage | WireProblem => {
  const param = `messages[${index}]`
  if (!isObject(given) || typeof given.role !== "string" || !roles.has(given.role)) {
    return {
      message: `Invalid value for '${param}.role'. Supported values are: ${
        [...roles].map((role) => `'${role}'`).join(", ")
      }.`,
      param: `${param}.role`
    }
  }
  const calls = Array.isArray(given.tool_calls) ? given.tool_calls : []
  const content = given.content ?? null
  if (content === null && (given.role !== "assistant" || calls.length === 0)) {
    return {
      message: `Invalid value for '${param}.content': expected a string or an array, got null.`,
      param: `${param}.content`
    }
  }
  const toolCalls: Array<WireToolCall> = []
  for (const call of calls) {
    if (
      !isObject(call) || typeof call.id !== "string" || call.id === "" || !isObject(call.function) ||
      typeof call.function.name !== "string" || typeof call.function.arguments !== "string"
    ) {
      return {
        message: `Invalid tool call in '${param}': 'id', 'function.name' and 'function.arguments' must be strings.`,
        param: `${param}.tool_calls`
      }
    }
    if (call.id.length > 40) {
      return {
        message: `Invalid '${param}.tool_calls[${toolCalls.length}].id': string too long. Expected a string with ` +
          "maximum length 40.",
        param: `${param}.tool_calls`,
        code: "string_above_max_length"
      }
    }
    toolCalls.push({ id: call.id, name: call.function.name, args: call.function.arguments })
  }
  return {
    // The role was checked above.
    role: given.role as WireMessage["role"],
    content,
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...(typeof given.tool_call_id === "string" ? { toolCallId: given.tool_call_id } : {})
  }
}

const tool = (given: Json, index: number): WireTool | WireProblem => {
  const definition = isObject(given) && given.type === "function" ? given.function : undefined
  if (!isObject(definition) || typeof definition.name !== "string" || !/^[a-zA-Z0-9_-]{1,64}$/.test(definition.name)) {
    return {
      message: `Invalid 'tools[${index}].function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'.`,
      param: `tools[${index}].function.name`
    }
  }
  return {
    name: definition.name,
    description: typeof definition.description === "string" ? definition.description : "",
    parameters: isObject(definition.parameters) ? definition.parameters : { type: "object", properties: {} }
  }
}

/** Checks that every tool call has exactly one result before any other message, and that ids are unique. */
const transcriptProblem = (messages: ReadonlyArray<WireMessage>): WireProblem | undefined => {
  const seen = new Set<string>()
  let open = new Set<string>()
  for (const [index, { role, toolCallId, toolCalls }] of messages.entries()) {
    const param = `messages[${index}]`
    if (role === "tool") {
      if (toolCallId !== undefined && open.delete(toolCallId)) continue
      return {
        message: `Invalid parameter: messages with role 'tool' must be a response to a preceding message ` +
          `with 'tool_calls' (tool_call_id: ${toolCallId ?? "missing"}).`,
        param: `${param}.role`
      }
    }
    if (open.size > 0) return unanswered(open, param)
    for (const { id } of toolCalls ?? []) {
      if (seen.has(id)) {
        return { message: `Duplicate tool call id '${id}' in '${param}.tool_calls'.`, param: `${param}.tool_calls` }
      }
      seen.add(id)
    }
    open = new Set((toolCalls ?? []).map(({ id }) => id))
  }
  return open.size > 0 ? unanswered(open, "messages") : undefined
}

const unanswered = (open: ReadonlySet<string>, param: string): WireProblem => ({
  message:
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. ` +
    `The following tool_call_ids did not have response messages: ${[...open].join(", ")}`,
  param
})

const isObject = (json: Json | undefined): json is JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json)
