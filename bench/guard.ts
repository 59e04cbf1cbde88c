/** What the guard costs in other SDKs: a turn with ten steps of one tool call each, with and without it. */
import type { AgentHook } from "@belay/core/AgentHook"
import { Guard } from "@belay/guard"
import * as AiSdk from "@belay/guard/AiSdk"
import * as LangChain from "@belay/guard/LangChain"
import * as OpenAiAgents from "@belay/guard/OpenAiAgents"
import { AIMessage } from "@langchain/core/messages"
import { Agent, type Model, Runner, setTracingDisabled, tool as openAiTool, Usage } from "@openai/agents"
import { generateText, isStepCount, tool } from "ai"
import { MockLanguageModelV4 } from "ai/test"
import { createAgent, fakeModel, tool as langChainTool } from "langchain"
import * as z from "zod"
import { measure, table } from "./measure.ts"

setTracingDisabled(true)

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

type Turn = (guarded: Guard.Guard | undefined) => Promise<unknown>

const inAiSdk: Turn = (guarded) =>
  generateText(guarded === undefined ? settings() : AiSdk.make(guarded).settings(settings()))

const sum = openAiTool({
  name: "add",
  description: "Adds",
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b
})

/** A model of the OpenAI Agents SDK that asks for one call a step. */
const openAiModel = (): Model => {
  let step = 0
  return {
    getResponse: async () => ({
      usage: new Usage({ requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 }),
      output: ++step > callsOfTurn
        ? [{
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "done" }]
        }]
        : [{
          type: "function_call",
          callId: `c${step}`,
          name: "add",
          status: "completed",
          arguments: "{\"a\":1,\"b\":2}"
        }]
    }),
    // The turns of this file are not streamed.
    getStreamedResponse: () => {
      throw new Error("not streamed")
    }
  }
}

const inOpenAiAgents: Turn = async (guarded) => {
  const agent = new Agent({ name: "adder", model: openAiModel(), tools: [sum] })
  if (guarded === undefined) return await new Runner().run(agent, "go", { maxTurns: callsOfTurn + 2 })
  const one = OpenAiAgents.make(guarded)
  return await one.runner().run(one.agent(agent), "go", { maxTurns: callsOfTurn + 2 })
}

const plus = langChainTool(({ a, b }) => String(a + b), {
  name: "add",
  schema: z.object({ a: z.number(), b: z.number() })
})

const inLangChain: Turn = async (guarded) => {
  const model = fakeModel()
  for (let step = 0; step < callsOfTurn; step++) {
    const call = { id: `c${step}`, name: "add", args: { a: 1, b: 2 }, type: "tool_call" as const }
    model.respond(new AIMessage({ content: "", tool_calls: [call] }))
  }
  model.respond(new AIMessage("done"))
  const create = guarded === undefined ? createAgent : LangChain.make(guarded).createAgent
  const agent = create({ model, tools: [plus] })
  return await agent.invoke({ messages: [{ role: "user", content: "go" }] }, { recursionLimit: 100 })
}

const noHooks = Guard.make()
const sixHooks = Guard.make({ hooks })

const partOf = async (name: string, turn: Turn, times: number): Promise<string> => {
  const run = (guarded?: Guard.Guard) => async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++) await turn(guarded)
  }
  const figures = await measure([
    { name: `${name} alone`, run: run() },
    { name: "with a guard, no hooks", run: run(noHooks) },
    { name: "with a guard, 6 hooks at the tool points", run: run(sixHooks) }
  ], times)
  const perCall = figures.map(({ cpu, name: row, wall }) => ({
    name: row,
    cpu: cpu / callsOfTurn,
    wall: wall / callsOfTurn
  }))
  const added = perCall[2]!.cpu - perCall[0]!.cpu
  return `${table(`One step with a tool call in ${name}`, perCall)}\nThe guard with 6 hooks adds ${
    added.toFixed(1)
  } µs of CPU.\n`
}

export const guard = async (): Promise<string> =>
  [
    await partOf("the AI SDK", inAiSdk, 100),
    await partOf("OpenAI Agents", inOpenAiAgents, 50),
    await partOf("LangChain", inLangChain, 20)
  ].join("\n")
