/** What spans say about turns, model calls and tool calls. */
import type { AgentEvent } from "@belay/core/AgentEvent"
import type { HookContext } from "@belay/core/HookContext"
import type { LlmRequest, LlmResponse } from "@belay/core/LlmCall"
import type { PreToolCallEvent } from "@belay/core/Tool"
import type { Usage } from "@belay/core/Usage"
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import { attribute, operation } from "../Conventions.ts"
import type { Attributes } from "./telemetry.ts"

/** The attempt to which a model call belongs. */
export interface Attempt {
  readonly provider: string
  readonly model: string | undefined
  readonly attempt: number
}

export const turnAttributes = (event: Extract<AgentEvent, { readonly type: "turn-start" }>): Attributes => ({
  [attribute.operation]: operation.agent,
  [attribute.agentName]: event.agent,
  [attribute.agentPath]: event.agentPath.join(" > "),
  [attribute.conversation]: event.rootSessionId,
  [attribute.session]: event.sessionId,
  [attribute.turn]: event.turnNumber,
  [attribute.resumed]: event.resumed
})

/** `attempt` is missing for a call that a hook makes. */
export const modelAttributes = (
  { model, parameters }: LlmRequest,
  ctx: HookContext,
  provider: string,
  attempt: number | undefined
): Attributes => ({
  [attribute.operation]: operation.model,
  [attribute.provider]: provider,
  [attribute.conversation]: ctx.root.sessionId,
  [attribute.agentName]: ctx.agent.name,
  [attribute.requestModel]: model,
  [attribute.requestMaxTokens]: parameters.maxTokens,
  [attribute.requestTemperature]: parameters.temperature,
  [attribute.requestTopP]: parameters.topP,
  [attribute.requestSeed]: parameters.seed,
  [attribute.requestStop]: parameters.stop?.slice(),
  [attribute.requestReasoning]: parameters.reasoningEffort,
  [attribute.outputType]: parameters.responseFormat === undefined ? undefined : "json",
  [attribute.step]: ctx.stepNumber,
  [attribute.attempt]: attempt,
  [attribute.hook]: ctx.caller
})

export const answerAttributes = (answer: Partial<LlmResponse> | undefined): Attributes => ({
  [attribute.responseId]: answer?.id,
  [attribute.responseModel]: answer?.model,
  [attribute.finishReasons]: answer?.finishReason === undefined ? undefined : [answer.finishReason],
  ...usageAttributes(answer?.usage)
})

export const usageAttributes = (usage: Usage | undefined): Attributes => ({
  [attribute.inputTokens]: usage?.inputTokens,
  [attribute.outputTokens]: usage?.outputTokens,
  [attribute.cacheReadTokens]: usage?.cachedTokens,
  [attribute.cacheWriteTokens]: usage?.cacheWriteTokens,
  [attribute.reasoningTokens]: usage?.reasoningTokens,
  [attribute.cost]: usage?.costUsd
})

export const toolAttributes = ({ id, name, tool }: PreToolCallEvent, ctx: HookContext): Attributes => ({
  [attribute.operation]: operation.tool,
  [attribute.toolName]: name,
  [attribute.toolDescription]: tool.description,
  [attribute.toolType]: "function",
  [attribute.toolCallId]: id,
  [attribute.conversation]: ctx.root.sessionId,
  [attribute.agentName]: ctx.agent.name,
  [attribute.step]: ctx.stepNumber,
  [attribute.hook]: ctx.caller
})

/** The value of `error.type`: the tag or the name of the error. Nothing for a success. */
export const errorTypeOf = (exit: Exit.Exit<unknown, unknown>): string | undefined => {
  if (Exit.isSuccess(exit)) return undefined
  if (Cause.hasInterruptsOnly(exit.cause)) return "cancelled"
  // An error may be anything.
  const { _tag: tag, name } = Object(Cause.squash(exit.cause)) as { readonly _tag?: unknown; readonly name?: unknown }
  return typeof tag === "string" ? tag : typeof name === "string" ? name : "_OTHER"
}
