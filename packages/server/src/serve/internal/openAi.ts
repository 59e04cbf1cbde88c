/** What chat completions and Responses of OpenAI have in common. */
import type { JsonObject } from "@belay/core/Json"
import type { ClientTool } from "@belay/core/Turn"
import type { Usage } from "@belay/core/Usage"
import type { Serve } from "../Serve.ts"
import { fieldsOf, textField } from "./content.ts"
import { invalid, type Kind, type Refusal } from "./refusal.ts"

const types: { readonly [K in Kind]?: string } = {
  unauthorized: "authentication_error",
  forbidden: "permission_error",
  busy: "rate_limit_error",
  unavailable: "server_error",
  failed: "server_error"
}

const codes: { readonly [K in Kind]?: string } = {
  unauthorized: "invalid_api_key",
  "not-found": "not_found",
  busy: "rate_limit_exceeded",
  filtered: "content_filter",
  "too-long": "context_length_exceeded",
  unavailable: "server_error",
  failed: "server_error"
}

/** The fields of an error of OpenAI. */
export const errorOf = ({ field, kind, message }: Refusal) => ({
  message,
  type: types[kind] ?? "invalid_request_error",
  param: field ?? null,
  code: codes[kind] ?? null
})

/** The body of a refused request. */
export const errorBody = (refusal: Refusal) => ({ error: errorOf(refusal) })

export const seconds = (): number => Math.floor((performance.timeOrigin + performance.now()) / 1_000)

/** Reads one function tool: nested in `function`, as chat completions have it, or flat as in Responses. */
const functionTool = (tool: unknown, index: number): ClientTool => {
  const fields = fieldsOf(tool)
  const path = `tools[${index}]`
  if (fields["type"] !== "function") throw invalid(`${path}: only tools of type "function" are supported`, path)
  const about = fields["function"] === undefined ? fields : fieldsOf(fields["function"])
  const { parameters = { type: "object", properties: {} } } = about
  return {
    name: textField(about, "name", path) ?? "",
    description: textField(about, "description", path) ?? "",
    // The body is JSON, and the fields of a JSON value are JSON.
    inputSchema: fieldsOf(parameters) as JsonObject
  }
}

/**
 * Refuses fields that would change the meaning of the answer. Sampling parameters are ignored: the agent has its own.
 */
export const refuseFields = (
  body: { readonly [field: string]: unknown },
  refused: { readonly [field: string]: (value: unknown) => boolean }
): void => {
  const found = Object.entries(refused).find(([field, isWrong]) =>
    (body[field] ?? undefined) !== undefined && isWrong(body[field])
  )
  if (found === undefined) return
  throw invalid(`${found[0]} is not supported with this value: the agent behind this server decides it`, found[0])
}

/** Whether the client may bring its tools into play, and which it brings. */
export const toolsOf = (body: { readonly [field: string]: unknown }): ReadonlyArray<ClientTool> => {
  const { tool_choice: choice, tools = [] } = body
  if (!Array.isArray(tools)) throw invalid("tools: expected a list", "tools")
  return choice === "none" ? [] : tools.map(functionTool)
}

/** The name of the conversation, if the client gives one: a header or a field of `metadata`. */
export const sessionNameOf = (request: Request, body: { readonly [field: string]: unknown }): string | undefined =>
  request.headers.get("x-session-id") ?? textField(fieldsOf(body["metadata"]), "session_id", "metadata.session_id")

export const modelOf = ({ model }: Serve, body: { readonly [field: string]: unknown }): string =>
  typeof body["model"] === "string" ? body["model"].slice(0, 200) : model

/** The usage in the fields of chat completions. */
export const chatUsage = ({ cachedTokens = 0, inputTokens, outputTokens, reasoningTokens = 0 }: Usage) => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
  prompt_tokens_details: { cached_tokens: cachedTokens },
  completion_tokens_details: { reasoning_tokens: reasoningTokens }
})

/** The usage in the fields of Responses. */
export const responsesUsage = ({ cachedTokens = 0, inputTokens, outputTokens, reasoningTokens = 0 }: Usage) => ({
  input_tokens: inputTokens,
  input_tokens_details: { cached_tokens: cachedTokens },
  output_tokens: outputTokens,
  output_tokens_details: { reasoning_tokens: reasoningTokens },
  total_tokens: inputTokens + outputTokens
})
