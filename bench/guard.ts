/** What the guard costs in another SDK: a turn with ten tool calls in the AI SDK, with and without it. */
import type { AgentHook } from "@belay/core/AgentHook"
import { Guard } from "@belay/guard"
import * as AiSdk from "@belay/guard/AiSdk"
import { generateText, isStepCount, tool } from "ai"
import { MockLanguageModelV4 } from "ai/test"
import * as z from "zod"
import { measure, table } from "./measure.ts"

const callsOfTurn = 10
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined }
}

/** A model that asks for one call a step. */
const model = () => {
  let step = 0
  return new MockLanguageModelV4({
    doGenerate: async () => {
      const isEnd = ++step > callsOfTurn
      return {
        content: isEnd
          ? [{ type: "text", text: "done" }]
          : [{ type: "tool-call", toolCallId: `c${step}`, toolName: "add", input: "{\"a\":1,\"b\":2}" }],
        finishReason: { unified: isEnd ? "stop" : "tool-calls", raw: undefined },
        usage,
        warnings: []
      }
    }
  })
}

const tools = {
  add: tool({ inputSchema: z.object({ a: z.number(), b: z.number() }), execute: ({ a, b }) => a + b })
}
const settings = () => ({ model: model(), tools, stopWhen: isStepCount(callsOfTurn + 1), prompt: "go" })

const hooks: ReadonlyArray<AgentHook> = Array.from({ length: 6 }, (_, index) => ({
  name: `noop-${index}`,
  preToolCall: () => {},
  postToolCall: () => {}
}))

const run = (guarded?: Guard.Guard) => async (times: number): Promise<void> => {
  for (let n = 0; n < times; n++) {
    await generateText(guarded === undefined ? settings() : AiSdk.make(guarded).settings(settings()))
  }
}

export const guard = async (): Promise<string> => {
  const figures = await measure([
    { name: "the AI SDK alone", run: run() },
    { name: "with a guard, no hooks", run: run(Guard.make()) },
    { name: "with a guard, 6 hooks at the tool points", run: run(Guard.make({ hooks })) }
  ], 100)
  const perCall = figures.map(({ cpu, name, wall }) => ({ name, cpu: cpu / callsOfTurn, wall: wall / callsOfTurn }))
  return table("One tool call in the AI SDK", perCall)
}
