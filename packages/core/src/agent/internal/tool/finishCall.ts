/** How a tool call ends: with a result that the `postToolCall` hooks have seen, or with a denial. */
import type { AgentError } from "../../../data/AgentError.ts"
import { failure, type PreToolCallEvent, type ToolResult } from "../../../data/Tool.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import { askHooks, notifyHooks } from "../turn/askHooks.ts"
import type { Turn } from "../turn/turn.ts"
import { abortOf } from "../turn/turnEnd.ts"
import { resolve, type Step, type Yieldable } from "../turn/yieldable.ts"
import type { RunningCall } from "./toolCallState.ts"

/** What came of a call. */
export interface CallOutcome {
  readonly result: ToolResult
  /** When the tool was started, by `performance.now`. Absent when a hook or a person answered in its place. */
  readonly startedAt?: number
}

/** Asks the `postToolCall` hooks, and gives back the result as they leave it. */
export const finishCall = (
  turn: Turn,
  event: PreToolCallEvent,
  outcome: CallOutcome
): Yieldable<ToolResult, AgentError | TurnEnded> =>
  turn.hasHooks("postToolCall") || turn.io.hasListeners ? askPostHooks(turn, event, outcome) : resolve(outcome.result)

const askPostHooks = function*(
  turn: Turn,
  { args, id, name, tool }: PreToolCallEvent,
  { result, startedAt }: CallOutcome
): Step<ToolResult, AgentError | TurnEnded> {
  const { io } = turn
  const executed = startedAt !== undefined
  const elapsedMs = executed ? performance.now() - startedAt : 0
  const call = { id, name, args }
  const outcome = yield* askHooks(turn, "postToolCall", { call, tool, result, elapsedMs, executed })
  const abort = abortOf(outcome)
  if (abort !== undefined) return yield* abort
  let final = outcome?.event.result ?? result
  if (outcome?.action._tag === "Reject") {
    const { action: { reason }, by = "hook" } = outcome
    // A hook's remark goes to the model beside the result; a hook that broke and fails closed takes the result away.
    if (outcome.failure === undefined) turn.scope.inject(`About the result of ${name}: ${reason}`, undefined, by)
    else final = failure(reason)
  }
  if (io.hasListeners) io.publish({ type: "tool-end", call, result: final, elapsedMs, executed })
  return final
}

/** Denies a call: the reason is the error that the model reads. */
export const denyCall = function*(
  turn: Turn,
  { state: { call } }: RunningCall,
  by: string,
  reason: string
): Step<ToolResult> {
  turn.io.publish({ type: "tool-denied", call, by, reason })
  yield* notifyHooks(turn, "onToolDenied", { call, by, reason })
  return failure(reason)
}
