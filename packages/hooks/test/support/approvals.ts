/** Agents whose tool calls need approval, and a person who answers when the test says so. */
import type { AgentHook } from "@belay/core/AgentHook"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookChain from "@belay/core/HookChain"
import type { Json } from "@belay/core/Json"
import { text } from "@belay/core/Message"
import * as Approval from "@belay/hooks/Approval"
import { scripted } from "../../../../test/support/agent.ts"

/** A chain without a runtime. */
export const approving = (
  options: Approval.Options,
  ...others: ReadonlyArray<Parameters<typeof HookChain.makeUnsafe>[0][number]>
) => HookChain.makeUnsafe([Approval.make(options), ...others])

type Calls = ReadonlyArray<readonly [tool: string, args: Json]>

/** An agent whose model makes these calls, step by step. `ran` has the arguments of the tools that ran. */
export const agentWith = (hooks: ReadonlyArray<AgentHook>, ...steps: ReadonlyArray<Calls>) => {
  const ran: Array<Json> = []
  const warnings: Array<string> = []
  const { provider } = scripted(
    steps.map((calls, step) => ({
      toolCalls: calls.map(([name, args], index) => ({ id: `${step * 10 + index + 1}`, name, args }))
    }))
  )
  const tools = [...new Set(steps.flat().map(([name]) => name))].map((name) =>
    defineTool({
      name,
      description: `The tool ${name}.`,
      input: { type: "object" },
      execute: (args) => void ran.push(args)
    })
  )
  const agent = createAgent({ provider, tools, hooks })
  agent.on((event) =>
    event.type === "warning" && event.hook === "human-approval" ? void warnings.push(event.message) : 0
  )
  return { agent, ran, warnings }
}

/** Runs one turn. `results` is what the model reads of its calls. */
export const run = async (hooks: ReadonlyArray<AgentHook>, ...calls: Calls) => {
  const { agent, ran, warnings } = agentWith(hooks, calls)
  const { messages } = await agent.run("go")
  await agent.close()
  return { ran, warnings, results: messages.filter(({ role }) => role === "tool").map(text) }
}

/** A person who answers when the test says so, and the questions before them. */
export const person = () => {
  const waiting = new Map<
    string,
    { readonly request: Approval.Request; readonly answer: (answer: Approval.Answer) => void }
  >()
  const shown: Array<string> = []
  const listeners = new Set<() => void>()
  const ask = (request: Approval.Request) =>
    new Promise<Approval.Answer>((resolve) => {
      shown.push(request.callId)
      waiting.set(request.callId, { request, answer: resolve })
      for (const listener of listeners) listener()
    })
  /** Waits until this many questions were shown. */
  const untilShown = (count: number) =>
    new Promise<void>((resolve) => {
      const look = () => shown.length >= count ? resolve() : undefined
      listeners.add(look)
      look()
    })
  return {
    ask,
    shown,
    untilShown,
    waiting,
    answer: (id: string, answer: Approval.Answer) => waiting.get(id)!.answer(answer)
  }
}
