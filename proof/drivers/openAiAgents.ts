/** The OpenAI Agents SDK, with the guard of Belay or with its own guardrails and approvals. */
import { Guard } from "@belay/guard"
import * as OpenAiAgents from "@belay/guard/OpenAiAgents"
import {
  Agent,
  defineToolInputGuardrail,
  type Model,
  type ModelRequest,
  type ModelResponse,
  Runner,
  RunState,
  setTracingDisabled,
  tool,
  ToolGuardrailFunctionOutputFactory,
  Usage
} from "@openai/agents"
import * as z from "zod"
import type { Driver, Setup, Step } from "../driver.ts"

setTracingDisabled(true)

let ids = 0

class ScriptedModel implements Model {
  private readonly script: Array<Step>
  constructor(script: ReadonlyArray<Step>) {
    this.script = [...script]
  }
  async getResponse({ handoffs }: ModelRequest): Promise<ModelResponse> {
    const step = this.script.shift() ?? { says: "done" }
    if ("fails" in step) throw new Error("busy")
    const usage = new Usage({ requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 })
    if ("says" in step) {
      return {
        usage,
        output: [{
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: step.says }]
        }]
      }
    }
    return {
      usage,
      output: step.calls.map(({ args = {}, id = `c${++ids}`, name }) => ({
        type: "function_call",
        callId: id,
        name: name === "helper" ? handoffs[0]?.toolName ?? name : name,
        status: "completed",
        arguments: JSON.stringify(args)
      }))
    }
  }
  async *getStreamedResponse(request: ModelRequest): ReturnType<Model["getStreamedResponse"]> {
    const { output } = await this.getResponse(request)
    yield {
      type: "response_done",
      response: { id: "r", usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }, output: output as never }
    }
  }
}

const never = defineToolInputGuardrail({
  name: "never",
  run: async () => ToolGuardrailFunctionOutputFactory.rejectContent("not allowed")
})

const toolsOf = ({ guard, ran }: Setup) => {
  const isOwn = guard === "own"
  return [
    tool({
      name: "leak",
      description: "Leaks",
      parameters: z.object({}),
      ...(isOwn ? { inputGuardrails: [never] } : {}),
      execute: () => void ran.push("leak")
    }),
    tool({ name: "read", description: "Reads", parameters: z.object({}), execute: () => void ran.push("read") }),
    tool({
      name: "mail",
      description: "Mails",
      parameters: z.object({ to: z.string() }),
      needsApproval: isOwn,
      execute: ({ to }) => void ran.push(`mail ${to}`)
    })
  ]
}

const agentOf = (
  setup: Setup,
  guard: Guard.Guard | undefined,
  guarded: OpenAiAgents.OpenAiAgents | undefined,
  script: ReadonlyArray<Step>,
  depth = 0
): Agent => {
  const inner = setup.helpers?.[depth]
  const isTool = inner !== undefined && setup.handsOver !== true
  const below = isTool && guard !== undefined ? OpenAiAgents.make(guard, { parent: guarded!.session }) : guarded
  const helper = inner === undefined ? undefined : agentOf(setup, guard, below, inner, depth + 1)
  const agent = new Agent({
    name: depth === 0 ? "lead" : `helper${depth}`,
    model: new ScriptedModel(script),
    tools: [
      ...toolsOf(setup),
      ...(isTool ? [helper!.asTool({ toolName: "helper", toolDescription: "Helps" })] : [])
    ],
    handoffs: helper === undefined || isTool ? [] : [helper]
  })
  return guarded === undefined ? agent : guarded.agent(agent)
}

export const openAiAgents: Driver = {
  name: "OpenAI Agents",
  hasOwn: true,
  start: (setup) => {
    const { guard: given, store } = setup
    const place = (script: ReadonlyArray<Step>) => {
      if (given === "own") return { agent: agentOf(setup, undefined, undefined, script), runner: new Runner() }
      const guard = Guard.make({ hooks: given, log: false, ...(store === undefined ? {} : { store }) })
      const guarded = OpenAiAgents.make(guard, { id: "proof", approvedBy: "ada" })
      return { agent: agentOf(setup, guard, guarded, script), runner: guarded.runner() }
    }
    const here = place(setup.script)
    let state = ""
    const options = setup.cancelAfterMs === undefined ? {} : { signal: AbortSignal.timeout(setup.cancelAfterMs) }
    return {
      send: async (text) => {
        const run = async () => {
          if (setup.stream !== true) return await here.runner.run(here.agent, text, options)
          const streamed = await here.runner.run(here.agent, text, { ...options, stream: true })
          await streamed.completed
          return streamed
        }
        const result = await run().catch(run)
        state = result.state.toString()
        return result.interruptions.map(({ rawItem }) => "callId" in rawItem ? String(rawItem.callId) : "")
      },
      approve: async ({ elsewhere = false, to } = {}) => {
        const { agent, runner } = elsewhere ? place([{ says: "done" }]) : here
        // In a state the arguments are a text inside a text.
        const text = to === undefined ? state : state.replaceAll("\\\"ann\\\"", `\\"${to}\\"`)
        const next = await RunState.fromString(agent, text)
        for (const one of next.getInterruptions()) next.approve(one)
        await runner.run(agent, next).catch(() => {})
      }
    }
  }
}
