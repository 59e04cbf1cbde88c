/**
 * Starts a tool call that the guard allowed, and finishes it: with a result, for which the `postToolCall` hooks run, or
 * with a denial.
 */
import type { AgentError } from "../../../data/AgentError.ts"
import {
  type ApprovalOfCall,
  failure,
  type PostToolCallEvent,
  type PreToolCallEvent,
  type ToolResult
} from "../../../data/tool/Tool.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import { askHooks, notifyHooks } from "../point/askHooks.ts"
import type { GuardTurn } from "../point/guardTurn.ts"
import { type RunningCall, update } from "../state/toolCallState.ts"
import { abortOf } from "../state/turnEnd.ts"
import { resolve, type Step, type Yieldable } from "../state/yieldable.ts"

/** Notes that the tool is about to run, and with which arguments. */
export const startCall = (running: RunningCall, { args }: PreToolCallEvent): void =>
  update(running, { type: "start", args: args === running.state.call.args ? undefined : args })

/** Sends the event that the tool starts. */
export const publishStart = (
  { io }: GuardTurn,
  { state: { changedBy } }: RunningCall,
  event: PreToolCallEvent
): void => {
  if (!io.hasListeners) return
  const { args, id, name } = event
  const changed = changedBy === undefined ? {} : { changed: { by: changedBy } }
  io.publish({ type: "tool-start", call: { id, name, args, ...changed } })
}

/** The outcome of a call. */
export interface CallOutcome {
  readonly result: ToolResult
  /** When the tool started, by `performance.now`. Absent if a hook or a person answered instead. */
  readonly startedAt?: number
  /** What a person approved. */
  readonly approval?: ApprovalOfCall | undefined
}

/** Runs the `postToolCall` hooks, and returns the result with their changes. */
export const finishCall = (
  turn: GuardTurn,
  event: PreToolCallEvent,
  outcome: CallOutcome
): Yieldable<ToolResult, AgentError | TurnEnded> =>
  turn.hasHooks("postToolCall") || turn.io.hasListeners ? askPostHooks(turn, event, outcome) : resolve(outcome.result)

const askPostHooks = function*(
  turn: GuardTurn,
  { args, id, name, tool }: PreToolCallEvent,
  { approval, result, startedAt }: CallOutcome
): Step<ToolResult, AgentError | TurnEnded> {
  const { io } = turn
  const executed = startedAt !== undefined
  const elapsedMs = executed ? performance.now() - startedAt : 0
  const call = { id, name, args }
  const client = turn.agent.clientTools?.has(name) === true ? { client: true as const } : undefined
  const done: PostToolCallEvent = { call, tool, result, elapsedMs, executed }
  const outcome = yield* askHooks(turn, "postToolCall", approval === undefined ? done : { ...done, approval })
  const abort = abortOf(outcome)
  if (abort !== undefined) return yield* abort
  let final = outcome?.event.result ?? result
  if (outcome?.action._tag === "Reject") {
    const { action: { reason }, by = "hook" } = outcome
    // The feedback of a hook is added to the result. If a fail-closed hook failed, an error replaces the result.
    if (outcome.failure === undefined) turn.scope.inject(`About the result of ${name}: ${reason}`, undefined, by)
    else final = failure(reason)
  }
  if (io.hasListeners) io.publish({ type: "tool-end", call, result: final, elapsedMs, executed, ...client })
  return final
}

/** Denies a call. The model reads the reason as the error. */
export const denyCall = function*(
  turn: GuardTurn,
  running: RunningCall,
  by: string,
  reason: string
): Step<ToolResult> {
  const { call } = running.state
  running.deniedBy = by
  const client = turn.agent.clientTools?.has(call.name) === true ? { client: true as const } : undefined
  turn.io.publish({ type: "tool-denied", call, by, reason, ...client })
  yield* notifyHooks(turn, "onToolDenied", { call, by, reason })
  return failure(reason)
}
