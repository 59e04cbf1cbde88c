/** Converts an `LlmRequest` to the body of a chat completion. */
import type { JsonObject } from "@belay/core/Json"
import type { LlmParameters, LlmRequest } from "@belay/core/LlmCall"
import type { ToolMeta } from "@belay/core/Tool"
import type { ChatCompletionToolChoiceOption } from "openai/resources/chat/completions"
import type { Compat } from "./compat.ts"
import { type Renderer, stringify } from "./message.ts"

/** What is needed to render a body. */
export interface BodyOptions {
  readonly model: string
  readonly stream: boolean
  readonly compat: Compat
  readonly render: Renderer
}

/** Renders the body. Messages and tools that were rendered before come from the cache. */
export const body = (request: LlmRequest, options: BodyOptions): string => {
  const { compat, render, stream } = options
  const messages = request.messages.map(render)
  if (request.instructions !== undefined && request.instructions !== "") {
    messages.unshift(stringify({ role: compat.systemRole, content: request.instructions }))
  }
  const tools = request.tools.length > 0
    ? `,"tools":[${request.tools.map(renderTool).join(",")}]`
    : compat.emptyTools && usesTools(request)
    ? `,"tools":[]`
    : ""
  const fields = stringify(parameters(request, compat)).slice(1, -1)
  const streaming = stream
    ? `,"stream":true${compat.usageInStream ? `,"stream_options":{"include_usage":true}` : ""}`
    : ""
  return `{"model":${stringify(options.model)},"messages":[${messages.join(",")}]${tools}${
    fields === "" ? "" : `,${fields}`
  }${streaming}}`
}

const parameters = (request: LlmRequest, compat: Compat): object => {
  const given = request.parameters
  const hasTools = request.tools.length > 0
  return {
    ...own(compat.extraBody),
    ...(given.temperature !== undefined && compat.sampling ? { temperature: given.temperature } : {}),
    ...(given.topP !== undefined && compat.sampling ? { top_p: given.topP } : {}),
    ...(given.maxTokens === undefined ? {} : { [compat.maxTokensField]: given.maxTokens }),
    ...(given.stop === undefined || given.stop.length === 0 ? {} : { stop: given.stop }),
    ...(given.seed === undefined ? {} : { seed: given.seed }),
    ...(given.toolChoice === undefined || !hasTools ? {} : { tool_choice: toolChoice(given.toolChoice, compat) }),
    ...(given.parallelToolCalls === undefined || !hasTools || !compat.parallelToolCalls
      ? {}
      : { parallel_tool_calls: given.parallelToolCalls }),
    ...(given.reasoningEffort === undefined ? {} : reasoning(given.reasoningEffort, compat)),
    ...(given.responseFormat === undefined
      ? {}
      : { response_format: { type: "json_schema", json_schema: given.responseFormat } }),
    ...own(given.extra)
  }
}

const reservedFields: ReadonlySet<string> = new Set(["model", "messages", "tools", "stream", "stream_options", "input"])

/** Returns the extra fields of the user, without those that Belay sets. */
export const own = (extra: JsonObject | undefined): JsonObject =>
  extra === undefined ? {} : Object.fromEntries(Object.entries(extra).filter(([key]) => !reservedFields.has(key)))

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
