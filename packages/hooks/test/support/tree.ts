/** Trees of agents in which a hook is tried: agents work at any place of the tree, and the test reads what happened. */
import type { AgentHook } from "@belay/core/AgentHook"
import { agentTool } from "@belay/core/agentTool"
import { type Agent, type AgentSession, createAgent } from "@belay/core/createAgent"
import { type AnyTool, defineTool } from "@belay/core/defineTool"
import type { Json } from "@belay/core/Json"
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import type { RunResult } from "@belay/core/RunResult"
import * as Effect from "effect/Effect"

export const places = ["lead", "sub-agent", "two parallel sub-agents", "depth 3", "calls of a hook"] as const
export type Place = typeof places[number]

export type Call = readonly [tool: string, args: Json]

/** Usage of every model call. */
const usage = { inputTokens: 10, outputTokens: 5 }
export const prices = { costPerInputToken: 0.01, costPerOutputToken: 0.02 }

const answer = (more: Partial<LlmResponse>): LlmResponse => ({
  model: "model-1",
  text: "",
  toolCalls: [],
  finishReason: more.toolCalls === undefined ? "stop" : "tool-calls",
  usage,
  ...more
})

/** A model that asks for these steps of calls one after another, as the conversation since the last user's message tells. */
export const model = (
  log: Array<LlmRequest>,
  steps: ReadonlyArray<ReadonlyArray<Call>>,
  name = "one"
): LlmProvider => ({
  name,
  complete: (request) =>
    Effect.sync(() => {
      log.push(request)
      const start = request.messages.findLastIndex((message) => message.role === "user" && message.source === undefined)
      const done = request.messages.slice(start).filter(({ role }) => role === "assistant").length
      const step = steps[done]
      return step === undefined ? answer({ text: `done ${done}` }) : answer({
        toolCalls: step.map(([tool, args], index) => ({ id: `${tool}-${log.length}-${index}`, name: tool, args }))
      })
    })
})

export interface Work {
  /** The calls of each agent that works, one step each. */
  readonly calls: ReadonlyArray<Call>
  readonly hooks: ReadonlyArray<AgentHook>
  /** What the tools do. Default: answer `ok`. */
  readonly execute?: (name: string, args: Json) => unknown
  /** Wraps the model of each agent that works. */
  readonly provider?: (plain: LlmProvider, agent: string) => LlmProvider | readonly [LlmProvider, ...Array<LlmProvider>]
  /** Steps of the lead after the work. */
  readonly after?: ReadonlyArray<ReadonlyArray<Call>>
  readonly turns?: number
}

export interface Done {
  readonly results: ReadonlyArray<RunResult | Error>
  /** The calls of tools that ran. */
  readonly ran: ReadonlyArray<string>
  readonly requests: ReadonlyArray<LlmRequest>
  readonly warnings: ReadonlyArray<string>
  readonly session: AgentSession
}

/** Lets agents do this work at a place of the tree. */
export const work = async (
  place: Place,
  { after = [], calls, execute, hooks, provider, turns = 1 }: Work
): Promise<Done> => {
  const ran: Array<string> = []
  const requests: Array<LlmRequest> = []
  const warnings: Array<string> = []
  const names = [...new Set([...calls, ...after.flat()].map(([name]) => name))]
  const tools: ReadonlyArray<AnyTool> = names.map((name) =>
    defineTool({
      name,
      description: name,
      input: { type: "object" },
      execute: (args) => {
        ran.push(name)
        return (execute?.(name, args as Json) ?? "ok") as never
      }
    }) as AnyTool
  )
  const worker = (name: string): Agent => {
    const plain = model(requests, calls.map((call) => [call]))
    return createAgent({ name, provider: provider?.(plain, name) ?? plain, tools })
  }
  const delegating = (name: string, agents: ReadonlyArray<Agent>, more: Partial<Parameters<typeof createAgent>[0]>) => {
    const tool = (index: number) => `ask_${index}`
    const first = agents.length === 0 ? [] : [agents.map((_, index): Call => [tool(index), { message: "work" }])]
    const own = name === "lead" ? after : []
    return createAgent({
      name,
      provider: model(requests, [...first, ...own]),
      tools: [...agents.map((agent, index) => agentTool({ name: tool(index), description: "works", agent })), ...tools],
      ...more
    })
  }
  const caller: AgentHook = {
    name: "caller",
    timeout: "none",
    preTurn: (_input, ctx) =>
      Effect.gen(function*() {
        for (const [name, args] of calls) {
          yield* Effect.ignore(ctx.llm({ prompt: "judge" }))
          yield* Effect.ignore(ctx.callTool(name, args))
        }
      })
  }
  const lead = (): Agent => {
    switch (place) {
      case "lead": {
        const plain = model(requests, [...calls.map((call) => [call]), ...after])
        return createAgent({ name: "lead", provider: provider?.(plain, "lead") ?? plain, tools, hooks })
      }
      case "sub-agent":
        return delegating("lead", [worker("one")], { hooks })
      case "two parallel sub-agents":
        return delegating("lead", [worker("one"), worker("two")], { hooks })
      case "depth 3":
        return delegating("lead", [delegating("a", [delegating("b", [worker("one")], {})], {})], { hooks })
      case "calls of a hook":
        return delegating("lead", [], { hooks: [...hooks, caller] })
    }
  }
  await using agent = lead()
  agent.on((event) => event.type === "warning" && warnings.push(event.message))
  await using session = await agent.session({ id: "s" })
  const results: Array<RunResult | Error> = []
  for (let turn = 0; turn < turns; turn++) results.push(await session.run("go").catch((error: Error) => error))
  return { results, ran, requests, warnings, session }
}
