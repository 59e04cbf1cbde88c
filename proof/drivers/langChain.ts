/** LangChain 1, with the guard of Belay or with its own middleware. */
import { Guard } from "@belay/guard"
import * as LangChain from "@belay/guard/LangChain"
import { AIMessage, ToolMessage } from "@langchain/core/messages"
import { Command, MemorySaver } from "@langchain/langgraph"
import {
  type AnyAgentMiddleware,
  createAgent,
  createMiddleware,
  fakeModel,
  humanInTheLoopMiddleware,
  modelRetryMiddleware,
  tool,
  type ToolRuntime
} from "langchain"
import * as z from "zod"
import { Absent, type Driver, type Setup, type Step } from "../driver.ts"

let ids = 0

const messageOf = (step: Step): AIMessage | Error => {
  if ("fails" in step) return new Error("busy")
  if ("says" in step) return new AIMessage(step.says)
  return new AIMessage({
    content: "",
    tool_calls: step.calls.map(({ args = {}, id = `c${++ids}`, name }) => ({ name, args, id, type: "tool_call" }))
  })
}

const modelOf = (script: ReadonlyArray<Step>) => {
  const model = fakeModel()
  for (const step of [...script, ...Array<Step>(4).fill({ says: "done" })]) model.respond(messageOf(step))
  return model
}

/** The way of the documentation: middleware that refuses a tool, and the one that asks people. */
const own: ReadonlyArray<AnyAgentMiddleware> = [
  createMiddleware({
    name: "never",
    wrapToolCall: (request, handler) =>
      request.toolCall.name === "leak"
        ? new ToolMessage({ content: "not allowed", tool_call_id: request.toolCall.id ?? "", status: "error" })
        : handler(request)
  }),
  // Its types are not made for exact optional properties.
  humanInTheLoopMiddleware({ interruptOn: { mail: true } } as never) as never
]

interface Guarding {
  readonly guard: Guard.Guard
  readonly guarded: LangChain.LangChain
}

const agentOf = (
  setup: Setup,
  guarding: Guarding | undefined,
  model: ReturnType<typeof fakeModel>,
  checkpointer: MemorySaver,
  depth = 0
): ReturnType<typeof createAgent> => {
  const { helpers = [], ran } = setup
  const inner = helpers[depth]
  const tools = [
    tool(() => void ran.push("leak"), { name: "leak", schema: z.object({}) }),
    tool(() => void ran.push("read"), { name: "read", schema: z.object({}) }),
    tool(({ to }) => void ran.push(`mail ${to}`), { name: "mail", schema: z.object({ to: z.string() }) }),
    ...(inner === undefined ? [] : [
      tool(async (_input, { toolCallId }: ToolRuntime) => {
        const below = guarding === undefined ? undefined : {
          guard: guarding.guard,
          guarded: LangChain.make(guarding.guard, { parent: guarding.guarded.session, parentCall: toolCallId })
        }
        const agent = agentOf(setup, below, modelOf(inner), new MemorySaver(), depth + 1)
        const { messages } = await agent.invoke({ messages: [{ role: "user", content: "help" }] }, thread)
        await below?.guarded.session.end()
        return messages.at(-1)?.text ?? ""
      }, { name: "helper", schema: z.object({}) })
    ])
  ]
  const middleware: ReadonlyArray<AnyAgentMiddleware> = [
    modelRetryMiddleware({ initialDelayMs: 1 }) as never,
    ...guarding === undefined ? own : []
  ]
  const params = { model, tools, middleware, checkpointer }
  return guarding === undefined ? createAgent(params) : guarding.guarded.createAgent(params)
}

const thread = { configurable: { thread_id: "proof" } }

export const langChain: Driver = {
  name: "LangChain 1",
  hasOwn: true,
  start: (setup) => {
    if (setup.handsOver === true) throw new Absent("its agents are tools or nodes")
    const { cancelAfterMs, guard: given, store } = setup
    const checkpointer = new MemorySaver()
    const place = (script: ReadonlyArray<Step>) => {
      if (given === "own") return agentOf(setup, undefined, modelOf(script), checkpointer)
      const guard = Guard.make({ hooks: given, log: false, ...(store === undefined ? {} : { store }) })
      const guarded = LangChain.make(guard, { id: "proof", approvedBy: "ada" })
      return agentOf(setup, { guard, guarded }, modelOf(script), checkpointer)
    }
    const here = place(setup.script)
    const options = {
      ...thread,
      ...(cancelAfterMs === undefined ? {} : { signal: AbortSignal.timeout(cancelAfterMs) })
    }
    return {
      send: async (content) => {
        const input = { messages: [{ role: "user" as const, content }] }
        if (setup.stream === true) {
          for await (const _piece of await here.stream(input, { ...options, streamMode: "messages" }));
        } else await here.invoke(input, options)
        const { tasks } = await here.graph.getState(thread)
        return tasks.flatMap(({ interrupts }) => interrupts.map(({ id }) => id ?? ""))
      },
      approve: async ({ elsewhere = false, to } = {}) => {
        const agent = elsewhere ? place([{ says: "done" }]) : here
        // What the checkpointer has stored, changed by somebody else.
        if (to !== undefined) {
          const text = new TextDecoder(), bytes = new TextEncoder()
          const change = (value: Uint8Array) => bytes.encode(text.decode(value).replaceAll("\"ann\"", `"${to}"`))
          for (const spaces of Object.values(checkpointer.storage)) {
            for (const space of Object.values(spaces)) {
              for (const stored of Object.values(space)) stored[0] = change(stored[0])
            }
          }
          for (const writes of Object.values(checkpointer.writes)) {
            for (const write of Object.values(writes)) write[2] = change(write[2])
          }
        }
        await agent.invoke(new Command({ resume: { decisions: [{ type: "approve" }] } }), thread).catch(() => {})
      }
    }
  }
}
