/**
 * Small things that most tests of the agent need: tools that write down their calls, events in order, transcripts in
 * one line.
 */
import { assert } from "@effect/vitest"
import { type AnyTool, defineTool, type ToolContext } from "../../src/agent/defineTool.ts"
import type { AgentEvent } from "../../src/data/AgentEvent.ts"
import type { Json } from "../../src/data/Json.ts"
import { type Message, text, whyInvalid } from "../../src/data/Message.ts"

/** Any object, as JSON Schema. */
export const anything = { type: "object" } as const

/** A tool that takes anything; `ran` has the arguments of every run. */
export const recording = (
  name: string,
  execute: (args: { readonly [key: string]: Json }, ctx: ToolContext) => unknown = () => "ok",
  more: Partial<AnyTool> = {}
): { readonly tool: AnyTool; readonly ran: Array<Json> } => {
  const ran: Array<Json> = []
  const tool = defineTool({
    name,
    description: `Does ${name}`,
    input: anything,
    ...more as object,
    execute: (args, ctx) => {
      ran.push(structuredClone(args) as Json)
      return execute(args, ctx) as never
    }
  })
  return { tool: tool as AnyTool, ran }
}

/** `user: hello | assistant(c1): | tool c1: ok` */
export const line = (messages: ReadonlyArray<Message>): string =>
  messages.map((message) => {
    if (message.role === "tool") return `tool ${message.toolName}${message.isError ? "!" : ""}: ${text(message)}`
    if (message.role === "user") {
      return `user${message.source === undefined ? "" : ` (${message.source})`}: ${text(message)}`
    }
    const calls = message.toolCalls === undefined ? "" : `[${message.toolCalls.map(({ name }) => name).join(",")}]`
    return `assistant${calls}: ${message.content}`
  }).join(" | ")

/** Fails when a provider would refuse the transcript. */
export const assertValid = (messages: ReadonlyArray<Message>): void =>
  assert.strictEqual(whyInvalid(messages), undefined)

/** What a consumer has on the screen: deltas put together, retracted where the agent says so. */
export const screen = (events: ReadonlyArray<AgentEvent>): string => {
  let all = ""
  let current = ""
  for (const event of events) {
    if (event.type === "llm-start" && event.attempt === 1) {
      all += current
      current = ""
    } else if (event.type === "text-delta") current += event.text
    else if (event.type === "retract") current = ""
  }
  return all + current
}

/** The error a promise is rejected with. */
export const failureOf = async (promise: PromiseLike<unknown>): Promise<{ readonly [key: string]: unknown }> => {
  try {
    await promise
  } catch (error) {
    return error as never
  }
  throw new Error("expected a rejection")
}

/** A promise that hangs is a failure after 90 seconds, not a slow test. A busy machine may take its time. */
export const within = async <A>(promise: PromiseLike<A>): Promise<A> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("not within 90 seconds")), 90_000)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
