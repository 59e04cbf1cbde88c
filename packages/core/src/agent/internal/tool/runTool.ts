/** Step 9 of a tool call: runs the tool inside the hooks that wrap it. */
import * as Effect from "effect/Effect"
import type { AgentError } from "../../../data/AgentError.ts"
import type { Json } from "../../../data/Json.ts"
import { failure, type PreToolCallEvent, type ToolResult } from "../../../data/tool/Tool.ts"
import type { RunningCall } from "../../../guard/internal/state/toolCallState.ts"
import { toEffect } from "../../../guard/internal/state/yieldable.ts"
import { wrapTool } from "../../../guard/internal/toolCall/wrapTool.ts"
import type { TurnEnded } from "../../../guard/TurnEnded.ts"
import { awaitName, cancelName, messageName } from "../definition/backgroundTools.ts"
import type { Turn } from "../running/turn.ts"
import { cancelAgent, hasBackground, messageAgent } from "../subagent/background.ts"
import { awaitAgent, delegate } from "../subagent/delegate.ts"
import { handBack } from "../subagent/stayingAgent.ts"
import { runHandBack } from "../subagent/takeOver.ts"
import { CallContext } from "./callContext.ts"

type Failure = AgentError | TurnEnded

/** Runs the tool. Returns `waiting` if a sub-agent waits for a person. */
export const runTool = (turn: Turn, call: RunningCall, event: PreToolCallEvent): Effect.Effect<ToolResult, Failure> => {
  const { delegates, toolWrappers } = turn.agent
  if (toolWrappers.length === 0) return act(turn, call, event)
  const isForAgent = turn.depth === 0 && delegates.has(event.name)
  return wrapTool(turn, { event, act: (one) => act(turn, call, one), isForAgent })
}

type RunInBackground = (turn: Turn, call: RunningCall, args: Json) => Effect.Effect<ToolResult, Failure>

/** The tools for agents in the background. */
const backgroundTools: ReadonlyMap<string, RunInBackground> = new Map<string, RunInBackground>([
  [
    awaitName,
    (turn, call, args) =>
      Effect.map(toEffect(() => awaitAgent(turn, call, args)), (result) => result === "waits" ? waiting : result)
  ],
  [messageName, (turn, _, args) => messageAgent(turn, args)],
  [cancelName, (turn, _, args) => cancelAgent(turn, args)]
])

/** The placeholder result of a sub-agent that waits for a person. Wrappers return it like any other result. */
export const waiting: ToolResult = Object.freeze(failure("waits for a person's decision"))

/** Runs the function of the tool, or the agent to which it delegates. */
const act = (turn: Turn, call: RunningCall, event: PreToolCallEvent): Effect.Effect<ToolResult, Failure> => {
  const { delegates, dispatcher, limits } = turn.agent
  if (turn.agent.handsBack === true && event.name === handBack.name) {
    return Effect.sync(() => runHandBack(turn, call, event.args))
  }
  const inBackground = turn.agent.runsBackground === true ? backgroundTools.get(event.name) : undefined
  if (inBackground !== undefined) {
    return hasBackground(turn)
      ? inBackground(turn, call, event.args)
      : Effect.succeed(failure("no agent works in the background here: only the lead agent can start some"))
  }
  const to = turn.depth > 0 ? undefined : delegates.get(event.name)
  if (to === undefined) {
    const context = new CallContext(turn, event, event.grant.timeoutMs ?? limits.toolMs)
    return dispatcher.dispatch(event, event.grant, context)
  }
  return Effect.map(
    toEffect(() => delegate(turn, call, event, to)),
    (result) => result === "waits" ? waiting : result
  )
}
