/** An agent that never stops by itself, and the part of a context that a budget uses. */
import { createAgent, defineHook, type HookPoint } from "@belay/core"
import type { AgentConfig } from "@belay/core/AgentConfig"
import * as Awaitable from "@belay/core/Awaitable"
import type { BudgetLevel } from "@belay/core/Compaction"
import { defineTool } from "@belay/core/defineTool"
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { LlmProvider } from "@belay/core/LlmProvider"
import * as Budget from "@belay/hooks/Budget"
import { Scripted } from "@belay/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

export const usage = { inputTokens: 100, outputTokens: 50 }
export const text = (words: string): LlmResponse => ({
  model: "m",
  text: words,
  toolCalls: [],
  finishReason: "stop",
  usage
})
export const calls = (
  ...all: ReadonlyArray<{ readonly name: string; readonly args?: HookPoint.In<"preToolCall">["args"] }>
): LlmResponse => ({
  ...Scripted.toolCalls(...all),
  usage
})
/** A call of 150 tokens costs ten dollars. */
export const price = { costPerInputToken: 0.05, costPerOutputToken: 0.1 }

export const look = defineTool({ name: "look", description: "Looks", input: { type: "object" }, execute: () => "seen" })

export const endless = (): LlmProvider => {
  let made = 0
  return {
    name: "endless",
    complete: () => Effect.sync(() => calls({ name: "look", args: { n: ++made } }))
  }
}

export const run = async (
  options: Budget.Options,
  more: Partial<AgentConfig> & { readonly layer?: Layer.Layer<never> } = {}
) => {
  const levels: Array<BudgetLevel> = []
  const provider = endless()
  let asked = 0
  await using agent = createAgent({
    provider: {
      ...provider,
      complete: (request) => Effect.andThen(Effect.sync(() => asked++), provider.complete(request))
    },
    tools: [look],
    layer: Layer.empty,
    hooks: [Budget.make(options), defineHook({ name: "watch", onBudget: (level) => void levels.push(level) })],
    ...more
  })
  const error = await agent.run("go").then(
    (result) => ({ _tag: result.status, message: result.text }),
    (error: { readonly _tag: string; readonly message: string }) => error
  )
  return { asked, error, levels }
}

export const request: LlmRequest = { messages: [], tools: [], parameters: {} }

export const nextOf = (provider: LlmProvider) =>
  Object.assign((value: LlmRequest) => Awaitable.make(provider.complete(value)), { promise: undefined as never })

/** The part of a context that a budget uses. */
export const budgetScope = () => {
  const values = new Map<string, unknown>()
  const state = {
    get: (key: { readonly name: string; readonly initial: unknown }) => values.get(key.name) ?? key.initial,
    set: (key: { readonly name: string }, value: unknown) => void values.set(key.name, value)
  }
  return {
    hook: "budget",
    sessionId: "s",
    caller: undefined,
    agent: { name: "a", depth: 0 },
    root: { sessionId: "s", turnNumber: 1, signal: new AbortController().signal },
    state,
    warn: () => {},
    reportBudget: () => Effect.undefined
  }
}
