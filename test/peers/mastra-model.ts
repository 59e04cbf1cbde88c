/** A model of Mastra that is a script. */
import type { MastraModelConfig } from "@mastra/core/llm"
import { MastraLanguageModelV2Mock, simulateReadableStream } from "@mastra/core/test-utils/llm-mock"

/** The model says something, or calls tools. */
export type Step = string | ReadonlyArray<readonly [name: string, args: object, id?: string]>

let ids = 0

/** In each step, the model says something or calls tools. Then it says that it is done. */
export const scripted = (...script: ReadonlyArray<Step>) => {
  const read: Array<string> = []
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
  const next = (params: object) => {
    const step = script[read.length] ?? "done"
    read.push(JSON.stringify(params))
    const content = typeof step === "string" ? [{ type: "text" as const, text: step }] : step.map(
      ([toolName, args, toolCallId = `call-${++ids}`]) => ({
        type: "tool-call" as const,
        toolCallId,
        toolName,
        input: JSON.stringify(args)
      })
    )
    return { content, finishReason: typeof step === "string" ? "stop" as const : "tool-calls" as const }
  }
  const chunksOf = ({ content, finishReason }: ReturnType<typeof next>): ReadonlyArray<object> => [
    { type: "stream-start", warnings: [] },
    ...content.flatMap((part): ReadonlyArray<object> => {
      if (part.type === "tool-call") return [part]
      const deltas = part.text.split(/(?<= )/).map((delta) => ({ type: "text-delta", id: "1", delta }))
      return [{ type: "text-start", id: "1" }, ...deltas, { type: "text-end", id: "1" }]
    }),
    { type: "finish", finishReason, usage }
  ]
  const plain = (params: object) => ({ ...params, abortSignal: undefined })
  const model = new MastraLanguageModelV2Mock({
    doGenerate: (params) => Promise.resolve({ ...next(plain(params)), usage, warnings: [] }),
    doStream: (params) =>
      // The stream of the SDK has the type of another version.
      Promise.resolve({ stream: simulateReadableStream({ chunks: [...chunksOf(next(plain(params)))] }) as never })
  })
  // Its types are not made for exact optional properties.
  return { model: model as unknown as MastraModelConfig, read }
}
