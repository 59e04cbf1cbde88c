/** Writes an answer as a vendor would: one JSON object, or a list of server-sent events. */
import type { JsonObject } from "@belay/core/Json"
import type { Answer } from "../../Brain.ts"
import { type WireRequest, wireText } from "./wire.ts"

/** Position of the answer in the log. It makes ids and times unique without a clock. */
export interface Stamp {
  readonly ordinal: number
}

/** Counts the tokens of a text, four characters each. */
const tokens = (text: string): number => Math.ceil(text.length / 4)

/** Counts the tokens of a request. */
export const promptTokens = (request: WireRequest): number => {
  const tools = request.tools.length === 0 ? 0 : tokens(JSON.stringify(request.tools))
  return request.messages.reduce((sum, message) => sum + messageTokens(message), 3 + tools)
}

/** Returns the answer as the body of a plain response. */
export const plain = (request: WireRequest, answer: Answer, stamp: Stamp): JsonObject => {
  const calls = toolCalls(answer, stamp)
  return {
    ...head(request, answer, stamp, "chat.completion"),
    choices: [{
      index: 0,
      message: {
        role: "assistant",
        content: answer.text ?? null,
        refusal: null,
        annotations: [],
        ...(answer.reasoning === undefined ? {} : { reasoning_content: answer.reasoning }),
        ...(calls.length === 0
          ? {}
          : {
            tool_calls: calls.map(({ args, id, name }) => ({
              id,
              type: "function",
              function: { name, arguments: args }
            }))
          })
      },
      logprobs: null,
      finish_reason: finish(answer)
    }],
    usage: usage(request, answer)
  }
}

/** Returns the answer as the events of a stream, without `[DONE]`. */
export const chunks = (request: WireRequest, answer: Answer, stamp: Stamp): ReadonlyArray<JsonObject> => {
  const base = head(request, answer, stamp, "chat.completion.chunk")
  const chunk = (delta: JsonObject, reason: string | null = null): JsonObject => ({
    ...base,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
    ...(request.includeUsage ? { usage: null } : {})
  })
  const calls = toolCalls(answer, stamp)
  return [
    chunk({ role: "assistant", content: calls.length > 0 && answer.text === undefined ? null : "", refusal: null }),
    ...pieces(answer.reasoning ?? "").map((text) => chunk({ reasoning_content: text })),
    ...pieces(answer.text ?? "").map((text) => chunk({ content: text })),
    ...calls.flatMap(({ args, id, name }, index) => [
      chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
      ...slices(args, 12).map((text) => chunk({ tool_calls: [{ index, function: { arguments: text } }] }))
    ]),
    chunk({}, finish(answer)),
    ...(request.includeUsage ? [{ ...base, choices: [], usage: usage(request, answer) }] : [])
  ]
}

const head = (request: WireRequest, answer: Answer, stamp: Stamp, object: string): JsonObject => ({
  id: `chatcmpl-${String(stamp.ordinal).padStart(8, "0")}`,
  object,
  created: 1_790_000_000 + stamp.ordinal,
  model: answer.model ?? request.model,
  service_tier: "default",
  system_fingerprint: "fp_belay0001"
})

const finish = (answer: Answer): string =>
  answer.finishReason ?? ((answer.toolCalls ?? []).length > 0 ? "tool_calls" : "stop")

const toolCalls = (answer: Answer, stamp: Stamp) =>
  (answer.toolCalls ?? []).map(({ args, id, name }, index) => ({
    id: id ?? `call_${String(stamp.ordinal).padStart(6, "0")}_${index}`,
    name,
    args: typeof args === "string" ? args : JSON.stringify(args)
  }))

const usage = (request: WireRequest, answer: Answer): JsonObject => {
  if (answer.usage !== undefined) return answer.usage
  const prompt = promptTokens(request)
  const last = request.messages.at(-1)
  const prefix = prompt - (last === undefined ? 0 : messageTokens(last))
  const reasoning = tokens(answer.reasoning ?? "")
  const written = tokens(answer.text ?? "") + reasoning + tokens(JSON.stringify(answer.toolCalls ?? ""))
  return {
    prompt_tokens: prompt,
    completion_tokens: written,
    total_tokens: prompt + written,
    prompt_tokens_details: { cached_tokens: prompt < 1024 ? 0 : Math.floor(prefix / 128) * 128, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0
    }
  }
}

const messageTokens = (message: WireRequest["messages"][number]): number =>
  3 + tokens(wireText(message)) + (message.toolCalls === undefined ? 0 : tokens(JSON.stringify(message.toolCalls)))

const pieces = (text: string): ReadonlyArray<string> => text.match(/\s*\S+(?:\s+$)?|\s+$/gu) ?? []

const slices = (text: string, size: number): ReadonlyArray<string> =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, index) => text.slice(index * size, (index + 1) * size))
