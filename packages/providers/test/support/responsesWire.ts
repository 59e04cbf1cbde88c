import type { Json, JsonObject } from "@belay/core/Json"
import type * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import { scripted } from "./support.ts"

export const events = (...list: ReadonlyArray<JsonObject>) => ({
  chunks: list.map((event, at) =>
    `event: ${String(event.type as string)}\ndata: ${JSON.stringify({ sequence_number: at, ...event })}\n\n`
  )
})
export const usage = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 3,
  output_tokens_details: { reasoning_tokens: 1 },
  total_tokens: 13
}
export const counted = {
  inputTokens: 10,
  outputTokens: 3,
  billableOutputTokens: 3,
  cachedTokens: 4,
  reasoningTokens: 1
}
export const response = (output: Json, more: JsonObject = {}): JsonObject => ({
  id: "resp_1",
  object: "response",
  model: "m-1",
  status: "completed",
  error: null,
  incomplete_details: null,
  output,
  usage,
  ...more
})
export const message = (text: string, more: JsonObject = {}): JsonObject => ({
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
  ...more
})
export const call = (args: string, more: JsonObject = {}): JsonObject => ({
  type: "function_call",
  id: "fc_1",
  call_id: "call_1",
  name: "read_file",
  arguments: args,
  status: "completed",
  ...more
})
export const textDelta = (delta: string): JsonObject => ({
  type: "response.output_text.delta",
  item_id: "msg_1",
  output_index: 0,
  content_index: 0,
  delta
})
export const completed = (output: Json, more: JsonObject = {}): JsonObject => ({
  type: "response.completed",
  response: response(output, more)
})
export const pathArgs = `{"path":"a"}`
export const pathCall = [{ id: "call_1", name: "read_file", args: { path: "a" } }]

export const speaks = (script: Parameters<typeof scripted>[0], options: OpenAiCompatible.Options = {}) =>
  scripted(script, { api: "responses", ...options })
