/** A provider written by hand with `fromPromise`: a small client of the chat completions API over `fetch`. */
import type { Json } from "@belay/core/Json"
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import { fromPromise, type LlmProvider } from "@belay/core/LlmProvider"
import type { ToolCall } from "@belay/core/Message"
import * as ProviderError from "@belay/core/ProviderError"

interface Chunk {
  readonly choices?: ReadonlyArray<{
    readonly delta?: {
      readonly content?: string | null
      readonly tool_calls?: ReadonlyArray<{
        readonly index: number
        readonly id?: string
        readonly function?: { readonly name?: string; readonly arguments?: string }
      }>
    }
    readonly finish_reason?: string | null
  }>
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null
}

const failure = (response: Response): ProviderError.ProviderError => {
  const fields = { provider: "plain", message: `status ${response.status}` }
  if (response.status === 401) return new ProviderError.Auth(fields)
  if (response.status !== 429) return new ProviderError.ServerError(fields)
  return new ProviderError.RateLimited({ ...fields, retryAfterMs: Number(response.headers.get("retry-after")) * 1000 })
}

const callOf = ({ args, id, name }: { id: string; name: string; args: string }): ToolCall => {
  try {
    return { id, name, args: JSON.parse(args === "" ? "{}" : args) as Json }
  } catch {
    return { id, name, args: null, malformed: args }
  }
}

export const plainProvider = (url: string): LlmProvider =>
  fromPromise({
    name: "plain",
    stream: async function*({ messages, tools }: LlmRequest, signal: AbortSignal) {
      const body = JSON.stringify({
        model: "scripted",
        stream: true,
        stream_options: { include_usage: true },
        messages,
        tools: tools.map(({ description, inputSchema, name }) => ({
          type: "function",
          function: { name, description, parameters: inputSchema }
        }))
      })
      const headers = { "content-type": "application/json", authorization: "Bearer test-key" }
      const response = await fetch(`${url}/chat/completions`, { method: "POST", headers, body, signal })
      if (!response.ok) throw failure(response)
      if (!response.headers.get("content-type")?.includes("event-stream")) {
        throw new ProviderError.Malformed({ provider: "plain", message: "no event stream" })
      }
      const calls: Array<{ id: string; name: string; args: string }> = []
      let rest = ""
      let isDone = false
      let answer: Partial<LlmResponse> = {}
      for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
        rest += text
        const lines = rest.split("\n\n")
        rest = lines.pop()!
        for (const line of lines) {
          const data = line.replace(/^data: /, "")
          if (data === "[DONE]") isDone = true
          if (data === "[DONE]" || !line.startsWith("data: ")) continue
          const { choices: [choice] = [], usage } = JSON.parse(data) as Chunk
          if (usage) answer = { usage: { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens } }
          for (const { function: fn, id, index } of choice?.delta?.tool_calls ?? []) {
            const call = calls[index] ??= { id: "", name: "", args: "" }
            call.id += id ?? ""
            call.name += fn?.name ?? ""
            call.args += fn?.arguments ?? ""
            yield { type: "tool-call", id: call.id, name: call.name, argsText: fn?.arguments ?? "" }
          }
          if (choice?.delta?.content) yield choice.delta.content
        }
      }
      if (!isDone) throw new ProviderError.Connection({ provider: "plain", message: "the stream was cut off" })
      return { ...answer, toolCalls: calls.map(callOf) }
    }
  })
