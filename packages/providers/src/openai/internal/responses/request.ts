/** Converts an `LlmRequest` to the body of a Responses call. The vendor does not store anything. */
import type { LlmParameters, LlmRequest } from "@belay/core/LlmCall"
import type { ToolMeta } from "@belay/core/Tool"
import * as Result from "effect/Result"
import type { FunctionTool } from "openai/resources/responses/responses"
import type { Compat } from "../request/compat.ts"
import { type Conflict, joinFields } from "../request/extra.ts"
import { cacheKey } from "../request/features.ts"
import type { Loose } from "../request/guards.ts"
import { stringify } from "../request/message.ts"
import { type BodyOptions, instructionsOf, rest } from "../request/request.ts"
import { hostedTool } from "./hosted.ts"
import { lastStored } from "./stored.ts"

/** Renders the body. With `stores`, the vendor stores responses, and the request continues the last one. */
export const body = (
  request: LlmRequest,
  options: BodyOptions,
  stores = false
): Result.Result<string, Conflict> => {
  const { compat, isWhole, model, provider, render } = options
  const stored = stores && isWhole !== true ? lastStored(request.messages, provider) : undefined
  const messages = stored === undefined ? request.messages : request.messages.slice(stored.count)
  const input = messages.map(render).filter((items) => items !== "").join(",")
  const shown = stores ? { ...compat, encryptedReasoning: false } : compat
  // Programs without types can ask for tools that do not exist.
  const unknown = request.parameters.hostedTools?.find((one) => hostedTool(one) === undefined)
  if (unknown !== undefined) {
    return Result.fail({ param: "hostedTools", message: `there is no hosted tool ${String(unknown.type)}` })
  }
  const before = stored === undefined ? {} : { previous_response_id: stored.responseId }
  return Result.map(
    joinFields(
      { ...before, ...fieldsOf(request, { ...options, compat: shown }) },
      request.parameters.extra,
      compat.extraBody
    ),
    (fields) => `{"model":${stringify(model)},"input":[${input}]${rest({ store: stores, ...fields })}}`
  )
}

const fieldsOf = (request: LlmRequest, { compat, stream }: BodyOptions): Loose => {
  const given = request.parameters
  const { hostedTools = [], logprobs, metadata, outputs, promptCache } = given
  const hasTools = request.tools.length > 0
  const drawing = outputs?.includes("image") === true ? [{ type: "image_generation" }] : []
  const searches = hostedTools.some(({ type }) => type === "tool-search")
  const tools = [...request.tools.map(searches ? searchedTool : tool), ...hostedTools.map(hostedTool), ...drawing]
  const include = [
    ...(compat.encryptedReasoning ? ["reasoning.encrypted_content"] : []),
    ...(logprobs === undefined ? [] : ["message.output_text.logprobs"]),
    ...(hostedTools.some(({ type }) => type === "file-search") ? ["file_search_call.results"] : [])
  ]
  const thinking = {
    ...(given.reasoningEffort === undefined ? {} : { effort: given.reasoningEffort }),
    ...(given.reasoningSummary === true ? { summary: "auto" } : {})
  }
  const instructions = instructionsOf(request, compat)
  return {
    ...(instructions === "" ? {} : { instructions }),
    ...(tools.length > 0 ? { tools } : {}),
    ...(given.temperature !== undefined && compat.sampling ? { temperature: given.temperature } : {}),
    ...(given.topP !== undefined && compat.sampling ? { top_p: given.topP } : {}),
    ...(given.maxTokens === undefined ? {} : { max_output_tokens: given.maxTokens }),
    ...(given.toolChoice === undefined || !hasTools ? {} : { tool_choice: toolChoice(given.toolChoice, compat) }),
    ...(given.parallelToolCalls === undefined || !hasTools || !compat.parallelToolCalls
      ? {}
      : { parallel_tool_calls: given.parallelToolCalls }),
    ...(Object.keys(thinking).length === 0 || compat.reasoning === "none" ? {} : { reasoning: thinking }),
    ...(include.length === 0 ? {} : { include }),
    ...(logprobs === undefined || logprobs === 0 ? {} : { top_logprobs: logprobs }),
    ...(metadata === undefined || !compat.metadata ? {} : { metadata }),
    ...cacheKey(request, promptCache, compat),
    ...(given.responseFormat === undefined
      ? {}
      : { text: { format: { type: "json_schema", ...given.responseFormat } } }),
    ...(stream ? { stream: true } : {})
  }
}

const tool = ({ description, inputSchema, name }: ToolMeta): FunctionTool => ({
  type: "function",
  name,
  description,
  parameters: inputSchema,
  strict: false
})

const searchedTool = (meta: ToolMeta): FunctionTool =>
  meta.deferred === undefined ? tool(meta) : { ...tool(meta), defer_loading: true }

const toolChoice = (choice: NonNullable<LlmParameters["toolChoice"]>, compat: Compat): unknown => {
  if (choice === "required") return compat.toolChoiceRequired ? "required" : "auto"
  return typeof choice === "string" ? choice : { type: "function", name: choice.tool }
}
