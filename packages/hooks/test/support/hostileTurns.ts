/** Turns in which a model, a tool or a user says very much. */
import type { AgentHook } from "@belay/core/AgentHook"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import type { Json } from "@belay/core/Json"
import type { LlmResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import * as Effect from "effect/Effect"
import { cpuMs } from "../../../../test/support/cpu.ts"

/** What is said in a turn. */
export interface Hostile {
  readonly message?: string
  readonly answer: Partial<LlmResponse>
  readonly result?: unknown
  /** The pieces in which the answer is streamed. Default: one. */
  readonly pieces?: number
}

const say = (more: Partial<LlmResponse>): LlmResponse => ({
  model: "m",
  text: "",
  toolCalls: [],
  finishReason: more.toolCalls === undefined ? "stop" : "tool-calls",
  usage: { inputTokens: 1, outputTokens: 1 },
  ...more
})

/** An answer with many calls of the tool `act`. */
export const callsOf = (count: number, args: (index: number) => Json = () => ({})): Partial<LlmResponse> => ({
  toolCalls: Array.from({ length: count }, (_, index) => ({ id: `c${index}`, name: "act", args: args(index) }))
})

export const words = (length: number): string =>
  "the quick brown fox jumps over it ".repeat(length / 34 + 1).slice(0, length)
export const keys = (count: number): Json => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]))
export const list = (length: number): ReadonlyArray<Json> => Array.from({ length }, (_, n) => n)

const provider = ({ answer, pieces = 1 }: Hostile): LlmProvider => {
  let count = 0
  const next = () => count++ === 0 ? say(answer) : say({ text: "done" })
  return {
    name: "hostile",
    complete: () => Effect.sync(next),
    stream: (_request, sink) =>
      Effect.gen(function*() {
        const response = next()
        const length = Math.ceil(response.text.length / pieces)
        for (let at = 0; at < response.text.length; at += length) {
          const shown = sink({ type: "text", text: response.text.slice(at, at + length) })
          if (shown !== undefined) yield* Effect.promise(async () => shown)
        }
        return response
      })
  }
}

/** No attempt is repeated. */
const once: AgentHook = {
  name: "once",
  tier: "managed",
  onLlmError: () => ({ _tag: "Replace", value: { type: "fail" } })
}

/** Runs a turn. Returns how much CPU it took in milliseconds, and how it ended. */
export const take = async (
  hooks: ReadonlyArray<AgentHook>,
  hostile: Hostile
): Promise<{ readonly ms: number; readonly end: string }> => {
  const { message = "go", result = "ok" } = hostile
  await using agent = createAgent({
    provider: provider(hostile),
    tools: [
      defineTool({ name: "act", description: "Acts", input: { type: "object" }, execute: () => result as Json })
    ],
    hooks: [...hooks, once],
    limits: { toolCalls: 1_000 },
    log: false,
    freeze: false
  })
  const before = cpuMs()
  const end = await agent.run(message).then(({ status }) => status, (error: Error) => error.message)
  return { ms: cpuMs() - before, end }
}
