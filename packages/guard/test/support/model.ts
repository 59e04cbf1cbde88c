/** Models of the AI SDK that answer from a script. */
import type { LanguageModelV4GenerateResult, LanguageModelV4StreamPart } from "@ai-sdk/provider"
import { MockLanguageModelV4, simulateReadableStream } from "ai/test"

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined }
}

let ids = 0

/** The model asks for tools. Without an id, each call gets a new one. */
export const calls = (
  ...given: ReadonlyArray<readonly [name: string, input: unknown, id?: string]>
): LanguageModelV4GenerateResult => ({
  content: given.map(([toolName, input, id = `call-${++ids}`]) => ({
    type: "tool-call",
    toolCallId: id,
    toolName,
    input: JSON.stringify(input)
  })),
  finishReason: { unified: "tool-calls", raw: "tool_calls" },
  usage,
  warnings: []
})

/** The model says something. */
export const says = (text: string): LanguageModelV4GenerateResult => ({
  content: [{ type: "text", text }],
  finishReason: { unified: "stop", raw: "stop" },
  usage,
  warnings: []
})

const signature = ({ providerMetadata }: Pick<LanguageModelV4GenerateResult, "providerMetadata">) =>
  providerMetadata === undefined ? {} : { providerMetadata }

const streamed = (answer: LanguageModelV4GenerateResult) => ({
  stream: simulateReadableStream<LanguageModelV4StreamPart>({
    chunks: [
      { type: "stream-start", warnings: [] },
      ...(answer.response === undefined ? [] : [{ type: "response-metadata" as const, ...answer.response }]),
      ...answer.content.flatMap((part, index): ReadonlyArray<LanguageModelV4StreamPart> => {
        const id = String(index)
        if (part.type === "reasoning") {
          return [
            { type: "reasoning-start", id },
            { type: "reasoning-delta", id, delta: part.text },
            { type: "reasoning-end", id, ...signature(part) }
          ]
        }
        if (part.type !== "text") return part.type === "tool-call" ? [part] : []
        const words = part.text.split(/(?<= )/)
        return [
          { type: "text-start", id },
          ...words.map((delta) => ({ type: "text-delta" as const, id, delta })),
          { type: "text-end", id }
        ]
      }),
      { type: "finish", finishReason: answer.finishReason, usage: answer.usage, ...signature(answer) }
    ]
  })
})

/** A model that gives these answers, one after the other. */
export const scripted = (...script: ReadonlyArray<LanguageModelV4GenerateResult>) => {
  let at = 0
  const next = () => script[at++] ?? says("done")
  return new MockLanguageModelV4({
    doGenerate: () => Promise.resolve(next()),
    doStream: () => Promise.resolve(streamed(next()))
  })
}

/** What the model has read in its last call. */
export const lastPrompt = (model: MockLanguageModelV4): string =>
  JSON.stringify((model.doGenerateCalls.at(-1) ?? model.doStreamCalls.at(-1))?.prompt)
