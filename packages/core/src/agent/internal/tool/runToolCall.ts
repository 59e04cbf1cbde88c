/**
 * Runs one tool call:
 *
 * | # | step | |
 * | --- | --- | --- |
 * | 1 to 8 | ask the guard (`allowCall`) | the call has a result, waits for a person, or may run |
 * | 9 | run the tool (`runTool`) | a sub-agent may wait for a person |
 * | 10 | run the `postToolCall` hooks (`finishCall`) | the result |
 */
import * as Effect from "effect/Effect"
import type { AgentError } from "../../../data/AgentError.ts"
import type { Json } from "../../../data/Json.ts"
import type { ToolCall } from "../../../data/Message.ts"
import { failure, type PreToolCallEvent, type ToolResult } from "../../../data/tool/Tool.ts"
import { approvalOf, planned, type RunningCall, update } from "../../../guard/internal/state/toolCallState.ts"
import { type Step, toEffect } from "../../../guard/internal/state/yieldable.ts"
import { allowCall, type TakeOver } from "../../../guard/internal/toolCall/allowCall.ts"
import { finishCall, publishStart, startCall } from "../../../guard/internal/toolCall/finishCall.ts"
import { wrapTool } from "../../../guard/internal/toolCall/wrapTool.ts"
import type { TurnEnded } from "../../../guard/TurnEnded.ts"
import { awaitName, cancelName, messageName } from "../definition/backgroundTools.ts"
import type { Turn } from "../running/turn.ts"
import { cancelAgent, hasBackground, messageAgent } from "../subagent/background.ts"
import { awaitAgent, delegate, resumeAwaited, resumeDelegation } from "../subagent/delegate.ts"
import { handBack } from "../subagent/stayingAgent.ts"
import { runHandBack } from "../subagent/takeOver.ts"
import { limitLoad } from "../window/rotate.ts"
import { CallContext } from "./toolContext.ts"

type Failure = AgentError | TurnEnded

/**
 * Runs one call until it has a result or waits: for a person, or because the turn is parked. The caller keeps the
 * result with `keepResult`.
 */
export const runToolCall = function*(turn: Turn, running: RunningCall): Step<ToolResult | "waits", Failure> {
  const { io } = turn
  if (turn.isParking) return "waits"
  const allowed = yield* allowCall(turn, running, takeOverOf(turn, running))
  if (allowed === "waits" || "ok" in allowed) return allowed
  const { event } = allowed
  // 9
  startCall(running, event)
  if (io.hasStore) yield* io.commit
  publishStart(turn, running, event)
  const startedAt = performance.now()
  const result = yield* runTool(turn, running, event)
  // 10
  return result === waiting
    ? "waits"
    : yield* finishCall(turn, event, { result, startedAt, approval: approvalOf(running.state) })
}

/** Returns how to continue the sub-agent of a call, if the tool delegates to one. */
const takeOverOf = (turn: Turn, running: RunningCall): TakeOver | undefined => {
  if (running.state.call.name === awaitName && turn.agent.runsBackground === true) {
    return function*(event) {
      const startedAt = performance.now()
      publishStart(turn, running, event)
      const result = yield* resumeAwaited(turn, running, event.args)
      return result === "waits" ? result : yield* finishCall(turn, event, { result, startedAt })
    }
  }
  const delegate = turn.agent.delegates.get(running.state.call.name)
  if (delegate === undefined) return undefined
  return function*(event) {
    const startedAt = performance.now()
    publishStart(turn, running, event)
    const result = yield* resumeDelegation(turn, running, event, delegate)
    return result === "waits" ? result : yield* finishCall(turn, event, { result, startedAt })
  }
}

/** Keeps the result of a call. The call is then done. */
export const keepResult = (turn: Turn, running: RunningCall, result: ToolResult): void => {
  const { session } = turn
  const { id } = running.state.call
  update(running, { type: "finish", result: limitLoad(turn, id, result) })
  if (session.root.hasDurable) session.durable.endCall(session.durableKey(id))
}

/** Runs a tool for a hook. `waits` means that a person would have to decide. */
export const runToolForHook = function*(turn: Turn, asked: ToolCall): Step<ToolResult | "waits", Failure> {
  const running: RunningCall = { state: planned(asked) }
  const result = yield* runToolCall(turn, running)
  if (result === "waits") return result
  keepResult(turn, running, result)
  return running.state.result ?? result
}

/** Runs the tool. Returns `waiting` if a sub-agent waits for a person. */
const runTool = (turn: Turn, call: RunningCall, event: PreToolCallEvent): Effect.Effect<ToolResult, Failure> => {
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
const waiting: ToolResult = Object.freeze(failure("waits for a person's decision"))

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
