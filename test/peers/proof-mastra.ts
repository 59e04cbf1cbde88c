/** Mastra, with the guard of Belay or with its own hooks and approvals. */
import { Guard } from "@belay/guard"
import * as Guarding from "@belay/guard/Mastra"
import { Agent } from "@mastra/core/agent"
import type { MastraModelConfig } from "@mastra/core/llm"
import { Mastra } from "@mastra/core/mastra"
import { InMemoryStore } from "@mastra/core/storage"
import { MastraLanguageModelV2Mock, simulateReadableStream } from "@mastra/core/test-utils/llm-mock"
import { createTool } from "@mastra/core/tools"
import { z } from "zod"
import { Absent, type Driver, type Setup, type Step } from "../../proof/driver.ts"

let ids = 0
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }

const modelOf = (script: ReadonlyArray<Step>): MastraModelConfig => {
  let at = 0
  const next = () => {
    const step = script[at++] ?? { says: "done" }
    if ("fails" in step) throw Object.assign(new Error("busy"), { isRetryable: true })
    if ("says" in step) {
      return {
        content: [{ type: "text" as const, text: step.says }],
        finishReason: "stop" as const,
        usage,
        warnings: []
      }
    }
    const content = step.calls.map(({ args = {}, id = `c${++ids}`, name }) => ({
      type: "tool-call" as const,
      toolCallId: id,
      toolName: name === "helper" ? "agent-helper" : name,
      input: JSON.stringify(name === "helper" ? { prompt: "help" } : args)
    }))
    return { content, finishReason: "tool-calls" as const, usage, warnings: [] }
  }
  const chunksOf = ({ content, finishReason }: ReturnType<typeof next>): Array<object> => [
    { type: "stream-start", warnings: [] },
    ...content.flatMap((part): ReadonlyArray<object> =>
      part.type === "tool-call" ? [part] : [
        { type: "text-start", id: "1" },
        { type: "text-delta", id: "1", delta: part.text },
        { type: "text-end", id: "1" }
      ]
    ),
    { type: "finish", finishReason, usage }
  ]
  // Its types are not made for exact optional properties, and its stream has the type of another version.
  return new MastraLanguageModelV2Mock({
    doGenerate: async () => await Promise.resolve(next()),
    doStream: async () =>
      await Promise.resolve({ stream: simulateReadableStream({ chunks: chunksOf(next()) }) as never })
  }) as unknown as MastraModelConfig
}

const toolsOf = ({ guard, ran }: Setup) => {
  const inputSchema = z.object({})
  const note = (text: string) => async () => await Promise.resolve({ at: ran.push(text) })
  return {
    leak: createTool({ id: "leak", description: "Leaks", inputSchema, execute: note("leak") }),
    read: createTool({ id: "read", description: "Reads", inputSchema, execute: note("read") }),
    mail: createTool({
      id: "mail",
      description: "Mails",
      inputSchema: z.object({ to: z.string() }),
      requireApproval: guard === "own",
      execute: async ({ to }) => await Promise.resolve({ at: ran.push(`mail ${to}`) })
    })
  }
}

const fingerprint = (args: unknown): string => JSON.stringify(args)

const agentOf = (
  setup: Setup,
  approved: Set<string>,
  guarding: { readonly guard: Guard.Guard; readonly guarded: Guarding.Mastra } | undefined,
  script: ReadonlyArray<Step>,
  depth = 0
): Agent => {
  const inner = setup.helpers?.[depth]
  const below = guarding === undefined ? undefined : {
    guard: guarding.guard,
    guarded: Guarding.make(guarding.guard, { agent: "helper", parent: guarding.guarded.session })
  }
  const id = depth === 0 ? "lead" : `helper${depth}`
  const config = {
    id,
    name: id,
    description: "Helps",
    instructions: "be",
    model: modelOf(script),
    tools: toolsOf(setup),
    ...(inner === undefined ? {} : { agents: { helper: agentOf(setup, approved, below, inner, depth + 1) } })
  }
  if (guarding !== undefined) return new Agent(guarding.guarded.config(config))
  // The way of the documentation: a hook refuses a tool, and runs one that needs approval only as it was shown.
  const hooks = {
    beforeToolCall: ({ input, toolName }: { readonly toolName: string; readonly input: unknown }) => {
      if (toolName === "leak") return { proceed: false as const, output: "not allowed" }
      return toolName === "mail" && !approved.delete(fingerprint(input))
        ? { proceed: false as const, output: "not approved with these arguments" }
        : undefined
    }
  }
  return new Agent({ ...config, hooks })
}

/** Changes what a store has kept. */
const change = (value: unknown, to: string): unknown => {
  if (value === "ann") return to
  if (value instanceof Map) {
    for (const [key, one] of value) value.set(key, change(one, to))
    return value
  }
  if (typeof value === "string") return value.replaceAll("\"ann\"", JSON.stringify(to))
  if (typeof value !== "object" || value === null || value instanceof Date) return value
  for (const [key, one] of Object.entries(value)) Reflect.set(value, key, change(one, to))
  return value
}

export const driver: Driver = {
  name: "Mastra",
  hasOwn: true,
  start: (setup) => {
    if (setup.handsOver === true) throw new Absent("its agents are tools")
    const { cancelAfterMs, guard: given, store } = setup
    const storage = new InMemoryStore()
    const approved = new Set<string>()
    const place = (script: ReadonlyArray<Step>) => {
      const agent = given === "own" ? agentOf(setup, approved, undefined, script) : (() => {
        const guard = Guard.make({ hooks: given, log: false, ...(store === undefined ? {} : { store }) })
        return agentOf(
          setup,
          approved,
          { guard, guarded: Guarding.make(guard, { id: "proof", approvedBy: "ada" }) },
          script
        )
      })()
      return new Mastra({ agents: { lead: agent }, storage, logger: false }).getAgent("lead")
    }
    const here = place(setup.script)
    const options = cancelAfterMs === undefined ? {} : { abortSignal: AbortSignal.timeout(cancelAfterMs) }
    let shown = ""
    let asked: { readonly runId: string; readonly toolCallId: string } | undefined
    return {
      send: async (text) => {
        if (setup.stream === true) {
          await (await here.stream(text, options)).consumeStream()
          return []
        }
        const { finishReason, runId, suspendPayload } = await here.generate(text, options)
        if (finishReason !== "suspended" || runId === undefined) return []
        const { args, toolCallId } = suspendPayload as { readonly args: unknown; readonly toolCallId: string }
        asked = { runId, toolCallId }
        shown = fingerprint(args)
        return [toolCallId]
      },
      approve: async ({ elsewhere = false, to } = {}) => {
        if (asked === undefined) return
        const agent = elsewhere ? place([{ says: "done" }]) : here
        if (to !== undefined) {
          const workflows = await storage.getStore("workflows")
          change(Reflect.get(Object(workflows), "db"), to)
        }
        approved.add(shown)
        await agent.approveToolCallGenerate(asked).catch(() => {})
      }
    }
  }
}
