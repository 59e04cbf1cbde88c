/** A delegation: what the sub-agent gets, and how its end becomes a result. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import { type AgentError, PortFailed } from "../../../data/AgentError.ts"
import type { Delegation, PostDelegationEvent } from "../../../data/Delegation.ts"
import type { Message } from "../../../data/Message.ts"
import { defined } from "../../../data/option/Fields.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import { failure, success, type ToolResult } from "../../../data/tool/Tool.ts"
import type { TurnInput } from "../../../data/Turn.ts"
import { finishDelegation } from "../../../guard/internal/point/delegation.ts"
import { addSpent } from "../../../guard/internal/state/spent.ts"
import type { SubAgentRun } from "../../../guard/internal/state/subAgentRun.ts"
import { type RunningCall, update } from "../../../guard/internal/state/toolCallState.ts"
import { endTurn } from "../../../guard/internal/state/turnEnd.ts"
import type { Step } from "../../../guard/internal/state/yieldable.ts"
import type { TurnEnded } from "../../../guard/TurnEnded.ts"
import { subAgentOf } from "../definition/agentTree.ts"
import { targetOf } from "../definition/delegationTarget.ts"
import type { Delegate, ResolvedAgent } from "../definition/resolvedAgent.ts"
import { type EndedTurn, whyLimited } from "../running/backgroundAgents.ts"
import type { AgentTurn } from "../running/turnParts.ts"
import { stayingAgent } from "./stayingAgent.ts"
import { answeringTool, canStay, isContinued, setAnswering, workOf } from "./takeOver.ts"

export type Failure = AgentError | TurnEnded

/** The conversation for an agent that takes over. If a transfer continues, the last message is its task. */
export const contextOf = (turn: AgentTurn, call: RunningCall): ReadonlyArray<Message> =>
  isContinued(turn, call) && turn.messages.at(-1)?.role === "user" ? turn.messages.slice(0, -1) : turn.messages.slice()

/** If a transfer continues, the other agent gets the files of the user's message too. */
export const inputOf = (turn: AgentTurn, call: RunningCall, message: string): TurnInput => {
  const { attachments, metadata } = turn.state.input
  return isContinued(turn, call) ? { message, ...defined({ attachments, metadata }) } : { message }
}

/** A sub-agent that works, and the tool through which it does. */
export interface Work {
  readonly call: RunningCall
  readonly sub: SubAgentRun
  readonly to: Delegate
  readonly name: string
  readonly task: string
}

/** Takes up how the turn of the other agent has ended. */
export const takeExit = function*(
  turn: AgentTurn,
  { call, name, sub, task, to }: Work,
  delegation: Delegation,
  exit: Exit.Exit<EndedTurn, AgentError>
): Step<ToolResult | "waits", Failure> {
  if (exit._tag === "Failure" && Cause.hasInterruptsOnly(exit.cause)) return yield* Effect.interrupt
  if (exit._tag === "Success" && exit.value.status === "suspended") {
    update(call, { type: "wait" })
    return "waits"
  }
  // The call stays started: when it is resumed, its sub-agent continues.
  if (exit._tag === "Success" && exit.value.status === "parked") return "waits"
  addSpent(turn.state, sub.spent())
  call.subAgent = undefined
  yield* sub.shutDown
  const hasEnded = exit._tag === "Success" && (exit.value.status === "completed" || exit.value.status === "aborted")
  // The lead agent goes on when the agent that took over fails.
  if (!hasEnded && canStay(turn, name, to)) setAnswering(turn, undefined)
  if (exit._tag === "Failure") {
    const error = Cause.squash(exit.cause)
    // The turn of the root cannot be saved either. It can be resumed when the store is back.
    return error instanceof PortFailed && error.port === "store" ? yield* error : failure(messageOf(error))
  }
  const result = exit.value
  if (result.status === "aborted") {
    update(call, { type: "finish", result: failure(`${delegation.agent} was aborted: ${result.reason}`) })
    return yield* endTurn({ type: "aborted", reason: result.reason, by: result.by })
  }
  if (result.status === "limited") return failure(whyLimited(delegation.agent, result))
  const work = canStay(turn, name, to) ? workOf(sub.messages(), task) : undefined
  return yield* endDelegation(turn, call, to, { delegation, result: { text: result.text }, executed: true }, work)
}

/**
 * Returns what the hooks made of the result. After a transfer, it is also the answer of the turn. `work` is what an
 * agent that stays did before.
 */
export const endDelegation = function*(
  turn: AgentTurn,
  call: RunningCall,
  to: Delegate,
  ended: PostDelegationEvent,
  work?: ReadonlyArray<Message>
): Step<ToolResult, Failure> {
  const finished = yield* finishDelegation(turn, ended)
  const { agent, type } = ended.delegation
  if (finished.type === "refuse") {
    if (to.stays === true) setAnswering(turn, undefined)
    return failure(finished.reason)
  }
  const isBack = to.stays === true && ended.executed && answeringTool(turn) === undefined
  // An agent in between ends too, so that the lead agent goes on.
  if (isBack && turn.parent === undefined) return success(`${agent} hands the conversation back: ${finished.text}`)
  if (type === "transfer") update(call, { type: "transfer", transfer: { text: finished.text, ...defined({ work }) } })
  return success(finished.text)
}

export const subAgentFor = (turn: AgentTurn, name: string, to: Delegate): Result.Result<ResolvedAgent, string> => {
  const target = targetOf(to.agent)
  if (target === undefined) return Result.fail("there is no such agent")
  const made = Result.mapError(subAgentOf(turn.agent, target.agent), ({ message }) => message)
  return canStay(turn, name, to)
    ? Result.map(made, (agent) => stayingAgent(agent, target.agent, turn.root.agent))
    : made
}

/** Returns the task of the call: the argument `message`, or all arguments as JSON. */
export const taskOf = (args: unknown): string =>
  typeof args === "object" && args !== null && "message" in args && typeof args.message === "string"
    ? args.message
    : JSON.stringify(args)
