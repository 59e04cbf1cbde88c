/** Converts an `LlmRequest` to the body of a Responses call. The vendor does not store anything. */
import type { LlmParameters, LlmRequest } from "@belay/core/LlmCall"
import type { ToolMeta } from "@belay/core/Tool"
import type { FunctionTool } from "openai/resources/responses/responses"
import type { Compat } from "../request/compat.ts"
import { stringify } from "../request/message.ts"
import { type BodyOptions, own } from "../request/request.ts"

/** Renders the body. */
export const body = (request: LlmRequest, { compat, model, render, stream }: BodyOptions): string => {
  const input = request.messages.map(render).filter((items) => items !== "").join(",")
  const fields = stringify(parameters(request, compat)).slice(1, -1)
  return `{"model":${stringify(model)},"input":[${input}],"store":false${fields === "" ? "" : `,${fields}`}${
    stream ? `,"stream":true` : ""
  }}`
}

const parameters = (request: LlmRequest, compat: Compat): object => {
  const given = request.parameters
  const hasTools = request.tools.length > 0
  return {
    ...own(compat.extraBody),
    ...(request.instructions === undefined || request.instructions === ""
      ? {}
      : { instructions: request.instructions }),
    ...(hasTools ? { tools: request.tools.map(tool) } : {}),
    ...(given.temperature !== undefined && compat.sampling ? { temperature: given.temperature } : {}),
    ...(given.topP !== undefined && compat.sampling ? { top_p: given.topP } : {}),
    ...(given.maxTokens === undefined ? {} : { max_output_tokens: given.maxTokens }),
    ...(given.toolChoice === undefined || !hasTools ? {} : { tool_choice: toolChoice(given.toolChoice, compat) }),
    ...(given.parallelToolCalls === undefined || !hasTools || !compat.parallelToolCalls
      ? {}
      : { parallel_tool_calls: given.parallelToolCalls }),
    ...(given.reasoningEffort === undefined || compat.reasoning === "none"
      ? {}
      : { reasoning: { effort: given.reasoningEffort } }),
    ...(compat.encryptedReasoning ? { include: ["reasoning.encrypted_content"] } : {}),
    ...(given.responseFormat === undefined
      ? {}
      : { text: { format: { type: "json_schema", ...given.responseFormat } } }),
    ...own(given.extra)
  }
}

const tool = ({ description, inputSchema, name }: ToolMeta): FunctionTool => ({
  type: "function",
  name,
  description,
  parameters: inputSchema,
  strict: false
})

const toolChoice = (choice: NonNullable<LlmParameters["toolChoice"]>, compat: Compat): unknown => {
  if (choice === "required") return compat.toolChoiceRequired ? "required" : "auto"
  return typeof choice === "string" ? choice : { type: "function", name: choice.tool }
}
