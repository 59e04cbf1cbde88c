/** Converts an `LlmRequest` to the body of a chat completion. */
import type { LlmParameters, LlmRequest } from "@belay/core/LlmCall"
import type { ToolMeta } from "@belay/core/Tool"
import * as Result from "effect/Result"
import type { ChatCompletionToolChoiceOption } from "openai/resources/chat/completions"
import type { Compat } from "./compat.ts"
import { type Conflict, joinFields } from "./extra.ts"
import { featureFields, hostedFields, markForCache } from "./features.ts"
import type { Loose } from "./guards.ts"
import { type Renderer, stringify } from "./message.ts"

/** What is needed to render a body. */
export interface BodyOptions {
  /** Name of the provider, under which its metadata is kept. */
  readonly provider: string
  /** Whether to send the whole conversation, although the vendor has stored a part of it. */
  readonly isWhole?: boolean
  readonly model: string
  readonly stream: boolean
  readonly compat: Compat
  readonly render: Renderer
}

/** Renders the body. Messages and tools that were rendered before come from the cache. */
export const body = (request: LlmRequest, options: BodyOptions): Result.Result<string, Conflict> => {
  const { compat, model, render } = options
  const { extra, hostedTools, promptCache } = request.parameters
  let messages: ReadonlyArray<string> = request.messages.map(render)
  const instructions = instructionsOf(request, compat)
  if (instructions !== "") messages = [stringify({ role: compat.systemRole, content: instructions }), ...messages]
  if (promptCache !== undefined && promptCache !== false && compat.promptCache === "markers") {
    messages = markForCache(messages, promptCache)
  }
  const fields = fieldsOf(request, options)
  const tools = request.tools.map(renderTool)
  const start = `{"model":${stringify(model)},"messages":[${messages.join(",")}]`
  if (extra === undefined && compat.extraBody === undefined && hostedTools === undefined) {
    return Result.succeed(`${start}${toolsText(tools, request, compat)}${rest(fields)}}`)
  }
  const hosted = hostedFields(hostedTools ?? [], compat)
  if (Result.isFailure(hosted)) return Result.fail(hosted.failure)
  const { tools: extraTools, ...others } = extra ?? {}
  if (extraTools !== undefined && !Array.isArray(extraTools)) {
    return Result.fail({ param: "extra.tools", message: "extra.tools is not a list of tools" })
  }
  tools.push(...hosted.success.tools.map(stringify), ...(extraTools ?? []).map(stringify))
  return Result.map(
    joinFields({ ...fields, ...hosted.success.fields }, others, compat.extraBody),
    (joined) => `${start}${toolsText(tools, request, compat)}${rest(joined)}}`
  )
}

const toolsText = (tools: ReadonlyArray<string>, request: LlmRequest, compat: Compat): string => {
  if (tools.length > 0) return `,"tools":[${tools.join(",")}]`
  return compat.emptyTools && usesTools(request) ? `,"tools":[]` : ""
}

/** Renders fields that follow others in an object. */
export const rest = (fields: Loose): string => {
  if (fields === noFields) return ""
  const text = stringify(fields).slice(1, -1)
  return text === "" ? "" : `,${text}`
}

const fieldsOf = (request: LlmRequest, { compat, stream }: BodyOptions): Loose => {
  const given = request.parameters
  if (!stream && isEmpty(given)) return noFields
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
    ...(given.reasoningEffort === undefined ? {} : reasoning(given.reasoningEffort, compat, given)),
    ...(given.reasoningSummary === true && given.reasoningEffort !== "none"
      ? summary(given.reasoningEffort, compat)
      : {}),
    ...(hasFeatures(given) ? featureFields(request, compat, stream) : {}),
    ...(given.responseFormat === undefined
      ? {}
      : { response_format: { type: "json_schema", json_schema: given.responseFormat } }),
    ...(stream ? { stream: true } : {}),
    ...(stream && compat.usageInStream ? { stream_options: { include_usage: true } } : {})
  }
}

const noFields: Loose = {}

const isEmpty = (value: object): boolean => {
  for (const _ in value) return false
  return true
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

const hasFeatures = ({ logprobs, metadata, outputs, promptCache }: LlmParameters): boolean =>
  logprobs !== undefined || outputs !== undefined || metadata !== undefined || promptCache !== undefined

const reasoning = (effort: string, compat: Compat, given: LlmParameters): Loose => {
  const isOff = effort === "none"
  switch (compat.reasoning) {
    case "effort":
      return { reasoning_effort: effort }
    case "openrouter":
      return { reasoning: isOff ? { enabled: false } : { effort } }
    case "thinking":
      return { thinking: { type: isOff ? "disabled" : "enabled" } }
    case "enable_thinking":
      return { enable_thinking: !isOff }
    case "budget":
      return isOff ? { thinking: { type: "disabled" } } : withBudget(effort, given)
    case "template":
      return {
        chat_template_kwargs: { enable_thinking: !isOff, ...(isOff ? {} : { reasoning_effort: effort }) },
        ...(isOff ? {} : { reasoning_effort: effort })
      }
    case "none":
      return {}
  }
}

const budgets: ReadonlyMap<string, number> = new Map([["minimal", 1024], ["low", 2048], ["medium", 8192]])

/**
 * The budget must be at least 1,024 tokens and less than the tokens of the answer. A model that must call a tool cannot
 * think.
 */
const withBudget = (effort: string, { maxTokens = Infinity, toolChoice = "auto" }: LlmParameters): Loose => {
  if (maxTokens < 2048 || (toolChoice !== "auto" && toolChoice !== "none")) return {}
  const budget_tokens = Math.min(budgets.get(effort) ?? 24_576, maxTokens - 1024)
  return { thinking: { type: "enabled", budget_tokens } }
}

const summary = (effort: string | undefined, compat: Compat): Loose => {
  switch (compat.reasoningSummary) {
    case "google":
      return { extra_body: { google: { thinking_config: { include_thoughts: true } } } }
    case "groq":
      return { reasoning_format: "parsed" }
    case "openrouter":
      return { reasoning: { ...(effort === undefined || effort === "none" ? { enabled: true } : { effort }) } }
    case "default":
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
