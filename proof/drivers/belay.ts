/** Belay's own runtime. */
import { createAgent } from "@belay/core"
import type { AgentHook } from "@belay/core/AgentHook"
import { agentTool } from "@belay/core/agentTool"
import { defineTool } from "@belay/core/defineTool"
import * as ProviderError from "@belay/core/ProviderError"
import * as Scripted from "@belay/testing/Scripted"
import * as z from "zod"
import type { Driver, Setup, Step } from "../driver.ts"

const entryOf = (step: Step): Scripted.Entry => {
  if ("says" in step) return step.says
  if ("fails" in step) return new ProviderError.RateLimited({ provider: "scripted", message: "busy", retryAfterMs: 1 })
  return Scripted.toolCalls(
    ...step.calls.map(({ args = {}, id, name }) => ({ name, args, ...(id === undefined ? {} : { id }) }))
  )
}

const toolsOf = (ran: Array<string>) => [
  defineTool({ name: "leak", description: "Leaks", input: z.object({}), execute: () => void ran.push("leak") }),
  defineTool({ name: "read", description: "Reads", input: z.object({}), execute: () => void ran.push("read") }),
  defineTool({
    name: "mail",
    description: "Mails",
    input: z.object({ to: z.string() }),
    execute: ({ to }) => void ran.push(`mail ${to}`)
  })
]

const agentOf = (
  setup: Setup,
  hooks: ReadonlyArray<AgentHook>,
  script: ReadonlyArray<Step>,
  depth = 0
): ReturnType<typeof createAgent> => {
  const inner = setup.helpers?.[depth]
  const helper = inner === undefined ? [] : [agentTool({
    name: "helper",
    description: "Helps",
    type: setup.handsOver === true ? "transfer" : "delegate",
    agent: agentOf(setup, hooks, inner, depth + 1)
  })]
  return createAgent({
    provider: Scripted.make([...script.map(entryOf), "done", "done", "done"]),
    tools: [...toolsOf(setup.ran), ...helper],
    hooks: depth === 0 ? hooks : [],
    log: false,
    ...(setup.store === undefined ? {} : { store: setup.store })
  })
}

export const belay: Driver = {
  name: "Belay",
  hasOwn: false,
  start: (setup) => {
    const hooks = setup.guard === "own" ? [] : setup.guard
    const agent = agentOf(setup, hooks, setup.script)
    let snapshot: unknown
    let asked: ReadonlyArray<string> = []
    return {
      send: async (text) => {
        const signal = setup.cancelAfterMs === undefined ? undefined : AbortSignal.timeout(setup.cancelAfterMs)
        const result = await agent.run(text, signal === undefined ? {} : { signal })
        if (result.status !== "suspended") return []
        snapshot = JSON.parse(JSON.stringify(result.snapshot))
        asked = result.pending.map(({ callId }) => callId)
        return asked
      },
      approve: async ({ elsewhere = false, to } = {}) => {
        const next = elsewhere ? agentOf(setup, hooks, [{ says: "done" }]) : agent
        // The snapshot is what the other process knows. Without a store, it is the client's word.
        if (snapshot === undefined || (elsewhere && setup.store === undefined)) return
        const given: unknown = to === undefined
          ? snapshot
          : JSON.parse(JSON.stringify(snapshot).replaceAll("\"ann\"", JSON.stringify(to)))
        await next.resume(
          given as never,
          Object.fromEntries(asked.map((id) => [id, { type: "approve", by: "ada" } as const]))
        )
          .catch(() => {})
      }
    }
  }
}
