/**
 * A process with an agent whose sessions are in a SQLite file. It does what the lines of its input say, and answers each
 * with a line. Arguments: its name and a folder.
 */
import { agentTool } from "@belay/core/agentTool"
import { type AgentSession, createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import { text } from "@belay/core/Message"
import * as SqliteStore from "@belay/providers/SqliteStore"
import * as Effect from "effect/Effect"
import { appendFileSync, existsSync } from "node:fs"
import { join } from "node:path"
import { argv, stdin, stdout } from "node:process"
import { createInterface } from "node:readline"

/** What a test asks a process to do. */
export interface Order {
  readonly id: number
  readonly do: "open" | "run" | "resume" | "park" | "steer" | "release" | "close" | "reload" | "read"
  readonly text?: string
}

/** The answer to an order. */
export interface Answer {
  readonly id: number
  readonly ok?: unknown
  readonly error?: {
    readonly _tag?: string
    readonly problem?: string
    readonly cause?: string
    readonly message: string
  }
}

/**
 * Answers by plan: the last message of the user names the tools to call, one step after the other. `work(pay hold)` asks
 * a sub-agent to follow the plan in brackets, and `lead[work(pay)]` asks one that asks another.
 */
const planner: LlmProvider = {
  name: "planner",
  complete: ({ messages }: LlmRequest) =>
    Effect.sync((): LlmResponse => {
      const from = messages.findLastIndex(({ role }) => role === "user")
      const isSteered = from > 0 && messages[from - 1]?.role === "tool"
      const start = isSteered ? messages.findLastIndex(({ role }, index) => role === "user" && index < from) : from
      const plan = text(messages[start]!).match(/\w+(?:\[[^\]]*\]|\([^)]*\))?/g) ?? []
      const done = messages.slice(start).filter(({ role }) => role === "assistant").length
      const next = plan[done]
      const answer = {
        model: "planner",
        text: "",
        finishReason: "stop",
        usage: { inputTokens: 1, outputTokens: 1 }
      } as const
      if (next === undefined) return { ...answer, text: `done ${plan.length}`, toolCalls: [] }
      const [, name = "", message] = /^(\w+)(?:[[(](.*)[\])])?$/.exec(next) ?? []
      const call = { id: `${messages.length}-${name}`, name, args: message === undefined ? {} : { message } }
      return { ...answer, toolCalls: [call] }
    })
}

const work = (name: string, folder: string): void => {
  const note = (file: string, what: string) => appendFileSync(join(folder, file), `${what}\n`)
  const tool = (toolName: string, execute: () => Promise<string> | string, idempotent = false) =>
    defineTool({
      name: toolName,
      description: toolName,
      input: { type: "object" },
      idempotent,
      execute: (_args, { idempotencyKey }) => {
        note("tools.log", `${toolName} ${name} ${idempotencyKey}`)
        return execute()
      }
    })
  /** Waits until the test opens the door of this process. */
  const hold = async (): Promise<string> => {
    note("held.log", name)
    while (!existsSync(join(folder, `open-${name}`))) await new Promise((resolve) => setTimeout(resolve, 5))
    return "held"
  }
  const tools = [
    tool("pay", () => "paid"),
    tool("hold", hold),
    tool("sync", hold, true),
    tool("deploy", () => "deployed")
  ]
  const worker = createAgent({ name: "worker", provider: planner, tools })
  const lead = createAgent({
    name: "lead",
    provider: planner,
    tools: [...tools, agentTool({ name: "work", description: "w", agent: worker })]
  })
  const store = SqliteStore.make({ path: join(folder, "shared.db") })
  const agent = createAgent({
    name: "root",
    provider: planner,
    tools: [
      ...tools,
      agentTool({ name: "lead", description: "l", agent: lead }),
      agentTool({ name: "work", description: "w", agent: worker })
    ],
    store: store.sessions,
    hooks: [
      { name: "gate", tools: "deploy", preToolCall: () => HookAction.ask("sure?") },
      { name: "ends", onSessionEnd: ({ reason }) => note("ends.log", `${name} ${reason}`) }
    ]
  })
  agent.on(({ rootSessionId, seq, type }) => note("events.log", `${rootSessionId} ${seq} ${type}`))

  let session: AgentSession | undefined
  const look = (one: AgentSession) => ({
    messages: one.messages,
    waiting: one.waiting.type === "process" ? `process ${one.waiting.why}` : one.waiting.type,
    pending: one.pending.map(({ callId }) => callId)
  })
  const act = async ({ do: deed, text: words = "" }: Order): Promise<unknown> => {
    if (deed === "open") {
      session = await agent.session({ id: words })
      return look(session)
    }
    const one = session!
    switch (deed) {
      case "run": {
        const { status, text: said } = await one.run(words)
        return { status, said }
      }
      case "resume": {
        const ids = words === "" ? [] : words.split(",")
        const { status, text: said } = await one.resume(
          Object.fromEntries(ids.map((callId) => [callId, { type: "approve" as const }]))
        )
        return { status, said }
      }
      case "park":
        return (await one.park()).type
      case "steer":
        return await one.steer(words)
      case "release":
        return await one.release()
      case "close":
        return await one.close()
      case "reload":
        await one.reload()
        return look(one)
      case "read":
        return look(one)
    }
  }
  const say = (answer: Answer) => stdout.write(`${JSON.stringify(answer)}\n`)
  say({ id: 0 })
  createInterface({ input: stdin }).on("line", (line) => {
    // The test writes orders.
    const order = JSON.parse(line) as Order
    act(order).then(
      (ok) => say({ id: order.id, ok: ok ?? null }),
      (
        error: {
          readonly _tag?: string
          readonly problem?: string
          readonly message: string
          readonly cause?: { readonly _tag?: string }
        }
      ) => {
        const { _tag, cause, message, problem } = error
        say({
          id: order.id,
          error: {
            message,
            ...(_tag === undefined ? {} : { _tag }),
            ...(problem === undefined ? {} : { problem }),
            ...(cause?._tag === undefined ? {} : { cause: cause._tag })
          }
        })
      }
    )
  })
}

if (argv[2] !== undefined && argv[3] !== undefined && argv[1]?.endsWith("sharedAgent.ts") === true) {
  work(argv[2], argv[3])
}
