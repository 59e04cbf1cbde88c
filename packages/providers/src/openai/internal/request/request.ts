/** Converts an `LlmRequest` to the body of a chat completion. */
import type { LlmParameters, LlmRequest } from "@belay/core/LlmCall"
import type { ToolMeta } from "@belay/core/Tool"
import * as Result from "effect/Result"
import type { ChatCompletionToolChoiceOption } from "openai/resources/chat/completions"
import type { Compat } from "./compat.ts"
import { type Conflict, joinFields } from "./extra.ts"
import type { Loose } from "./guards.ts"
import { type Renderer, stringify } from "./message.ts"

/** What is needed to render a body. */
export interface BodyOptions {
  readonly model: string
  readonly stream: boolean
  readonly compat: Compat
  readonly render: Renderer
}

/** Renders the body. Messages and tools that were rendered before come from the cache. */
export const body = (request: LlmRequest, options: BodyOptions): Result.Result<string, Conflict> => {
  const { compat, model, render } = options
  const { extra } = request.parameters
  const messages = request.messages.map(render)
  const instructions = instructionsOf(request, compat)
  if (instructions !== "") messages.unshift(stringify({ role: compat.systemRole, content: instructions }))
  const fields = fieldsOf(request, options)
  const tools = request.tools.map(renderTool)
  const start = `{"model":${stringify(model)},"messages":[${messages.join(",")}]`
  if (extra === undefined && compat.extraBody === undefined) {
    return Result.succeed(`${start}${toolsText(tools, request, compat)}${rest(fields)}}`)
  }
  const { tools: extraTools, ...others } = extra ?? {}
  if (extraTools !== undefined && !Array.isArray(extraTools)) {
    return Result.fail({ param: "extra.tools", message: "extra.tools is not a list of tools" })
  }
  tools.push(...(extraTools ?? []).map(stringify))
  return Result.map(
    joinFields(fields, others, compat.extraBody),
    (joined) => `${start}${toolsText(tools, request, compat)}${rest(joined)}}`
  )
}

const toolsText = (tools: ReadonlyArray<string>, request: LlmRequest, compat: Compat): string => {
  if (tools.length > 0) return `,"tools":[${tools.join(",")}]`
  return compat.emptyTools && usesTools(request) ? `,"tools":[]` : ""
}

/** Renders fields that follow others in an object. */
export const rest = (fields: Loose): string => {
  const text = stringify(fields).slice(1, -1)
  return text === "" ? "" : `,${text}`
}

const fieldsOf = (request: LlmRequest, { compat, stream }: BodyOptions): Loose => {
  const given = request.parameters
  const hasTools = request.tools.length > 0
  return {
    ...(given.temperature !== undefined && compat.sampling ? { temperature: given.temperature } : {}),
    ...(given.topP !== undefined && compat.sampling ? { top_p: given.topP } : {}),
    ...(given.maxTokens === undefined ? {} : { [compat.maxTokensField]: given.maxTokens }),
    ...(given.stop === undefined || given.stop.length === 0 ? {} : { stop: given.stop }),
    ...(given.seed === undefined || !compat.seed ? {} : { seed: given.seed }),
    ...(given.toolChoice === undefined || !hasTools ? {} : { tool_choice: toolChoice(given.toolChoice, compat) }),
    ...(given.parallelToolCalls === undefined || !hasTools || !compat.parallelToolCalls
      ? {}
      : { parallel_tool_calls: given.parallelToolCalls }),
    ...(given.reasoningEffort === undefined ? {} : reasoning(given.reasoningEffort, compat)),
    ...(given.responseFormat === undefined
      ? {}
      : { response_format: { type: "json_schema", json_schema: given.responseFormat } }),
    ...(stream ? { stream: true } : {}),
    ...(stream && compat.usageInStream ? { stream_options: { include_usage: true } } : {})
  }
}

/** Returns the instructions, with a required tool in words for servers that ignore `tool_choice`. */
export const instructionsOf = ({ instructions = "", parameters, tools }: LlmRequest, compat: Compat): string => {
  const choice = parameters.toolChoice
  if (!compat.toolChoiceInWords || tools.length === 0 || choice === undefined || choice === "auto") return instructions
  const wish = choice === "none"
    ? "Do not call a tool now."
    : choice === "required"
    ? "Call one of the tools now, and write nothing else."
    : `Call the tool ${choice.tool} now, and write nothing else.`
  return instructions === "" ? wish : `${instructions}\n\n${wish}`
}

const toolChoice = (
  choice: NonNullable<LlmParameters["toolChoice"]>,
  compat: Compat
): ChatCompletionToolChoiceOption => {
  if (choice === "required") return compat.toolChoiceRequired ? "required" : "auto"
  return typeof choice === "string" ? choice : { type: "function", function: { name: choice.tool } }
}

const reasoning = (effort: string, compat: Compat): object => {
  switch (compat.reasoning) {
    case "effort":
      return { reasoning_effort: effort }
    case "openrouter":
      return { reasoning: effort === "none" ? { enabled: false } : { effort } }
    case "thinking":
      return { thinking: { type: effort === "none" ? "disabled" : "enabled" } }
    case "enable_thinking":
      return { enable_thinking: effort !== "none" }
    case "none":
      return {}
  }
}

const usesTools = (request: LlmRequest): boolean => request.messages.some((message) => message.role === "tool")

const renderedTools = new WeakMap<ToolMeta, string>()

const renderTool = (tool: ToolMeta): string => {
  const before = renderedTools.get(tool)
  if (before !== undefined) return before
  const parameters = tool.inputSchema.type === "object" && tool.inputSchema.properties === undefined
    ? { ...tool.inputSchema, properties: {} }
    : tool.inputSchema
  const text = stringify({ type: "function", function: { name: tool.name, description: tool.description, parameters } })
  renderedTools.set(tool, text)
  return text
}
