/**
 * Delegates a tool call to another agent, whose turn becomes a part of this one:
 * 1. runs the `preDelegation` hooks, which may change, answer or reject the delegation
 * 2. runs the turn of the other agent in its own session
 * 3. runs the `postDelegation` hooks
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { PortFailed } from "../../../data/AgentError.ts"
import type { Delegation } from "../../../data/Delegation.ts"
import { digest, type Json } from "../../../data/Json.ts"
import { childOf } from "../../../data/RunState.ts"
import { failure, type PreToolCallEvent, success, type ToolResult } from "../../../data/tool/Tool.ts"
import { sessionOf } from "../../../guard/internal/io/resumeSession.ts"
import { allowDelegation } from "../../../guard/internal/point/delegation.ts"
import { SessionState } from "../../../guard/internal/state/sessionState.ts"
import type { SubAgentRun } from "../../../guard/internal/state/subAgentRun.ts"
import { planned, type RunningCall, update } from "../../../guard/internal/state/toolCallState.ts"
import { endTurn } from "../../../guard/internal/state/turnEnd.ts"
import { newTurn, storedTurn, type TurnState } from "../../../guard/internal/state/turnState.ts"
import { type Step, toEffect } from "../../../guard/internal/state/yieldable.ts"
import { applyDecisions, pendingOf } from "../../../guard/internal/toolCall/openQuestions.ts"
import { targetOf } from "../definition/delegationTarget.ts"
import type { Delegate, ResolvedAgent } from "../definition/resolvedAgent.ts"
import { BackgroundAgents, storedAgents } from "../running/backgroundAgents.ts"
import { Turn } from "../running/turn.ts"
import { shutDownCore } from "../window/startSession.ts"
import { backgroundAgent, hasBackground, startedText, startInBackground, wasCancelled } from "./background.ts"
import {
  contextOf,
  endDelegation,
  type Failure,
  inputOf,
  subAgentFor,
  takeExit,
  taskOf,
  type Work
} from "./delegation.ts"
import { canStay, setAnswering } from "./takeOver.ts"

type Call = Pick<PreToolCallEvent, "args" | "name">

/** Delegates the call. `waits` means that the other agent waits for a person, or was parked. */
export const delegate = function*(
  turn: Turn,
  call: RunningCall,
  { args, name }: Call,
  to: Delegate
): Step<ToolResult | "waits", Failure> {
  const plain: Delegation = { agent: name, type: to.type, message: taskOf(args) }
  const asked = to.type === "transfer" ? { ...plain, context: contextOf(turn, call) } : plain
  const allowed = yield* allowDelegation(turn, asked)
  if (allowed.type === "refuse") return failure(allowed.reason)
  const { delegation } = allowed
  if (allowed.type === "answer") {
    return yield* endDelegation(turn, call, to, { delegation, result: allowed.result, executed: false })
  }
  const agent = subAgentFor(turn, name, to)
  if (Result.isFailure(agent)) return failure(agent.failure)
  if (canStay(turn, name, to)) setAnswering(turn, name)
  const { context = [], instructions, message } = delegation
  // The id is the same whenever this call is repeated, so the idempotency keys of the sub-agent's tools stay the same.
  const id = `${turn.session.id}.${digest([turn.state.turnNumber, call.state.call.id])}`
  const session = new SessionState(id, { messages: context, turnNumber: 0, root: turn.session.root })
  const task = instructions === undefined ? message : `${instructions}\n\n${message}`
  const sub = subAgentRun(
    { parent: turn, call, agent: agent.success, session, state: newTurn(inputOf(turn, call, task), 1) },
    to
  )
  if (to.background === true && hasBackground(turn)) {
    const started = startInBackground(turn, { tool: name, message: task }, { sub, session, run: sub.run(false) })
    // It may have ended already.
    return turn.aborted === undefined ? success(startedText(started)) : yield* endTurn(turn.aborted)
  }
  return yield* runSubAgent(turn, { call, sub, to, name, task }, delegation, false)
}

/** Resumes the sub-agent of a call with the decisions that people have made since. */
export const resumeDelegation = function*(
  turn: Turn,
  call: RunningCall,
  { args, name }: Call,
  to: Delegate
): Step<ToolResult | "waits", Failure> {
  const rebuilt = call.subAgent === undefined ? rebuild(turn, call, name, to) : Result.succeed(call.subAgent)
  if (Result.isFailure(rebuilt)) return failure(rebuilt.failure)
  const sub = rebuilt.success
  if (call.decisions !== undefined) yield* sub.decide(call.decisions)
  call.decisions = undefined
  const task = taskOf(args)
  return yield* runSubAgent(turn, { call, sub, to, name, task }, { agent: name, type: to.type, message: task }, true)
}

/** Runs `await_agent`: waits for an agent in the background, whose answer is the result. */
export const awaitAgent = function*(turn: Turn, call: RunningCall, args: Json): Step<ToolResult | "waits", Failure> {
  const agent = backgroundAgent(turn, args)
  if (typeof agent === "string") return failure(agent)
  const { id, message, tool, work } = agent
  const to = turn.agent.delegates.get(tool)
  if (work === undefined || to === undefined) return failure(`${id} is gone: start it again`)
  agent.isAwaited = true
  call.subAgent = work.sub
  const exit = yield* Fiber.await(work.fiber)
  if (wasCancelled(exit)) {
    call.subAgent = undefined
    return failure(`${id} was cancelled`)
  }
  const about = { agent: tool, type: to.type, message }
  const result = yield* takeExit(turn, { call, sub: work.sub, to, name: tool, task: message }, about, exit)
  if (result !== "waits") turn.background?.agents.delete(id)
  return result
}

/** Continues an agent for which a call waited in another process. */
export const resumeAwaited = function*(turn: Turn, call: RunningCall, args: Json): Step<ToolResult | "waits", Failure> {
  const id = typeof args === "object" && args !== null && "id" in args ? args.id : undefined
  const agent = turn.background?.agents.get(typeof id === "string" ? id : "")
  const to = agent === undefined ? undefined : turn.agent.delegates.get(agent.tool)
  if (agent === undefined || to === undefined) return failure(`${JSON.stringify(id)} is gone: start it again`)
  const { message, tool } = agent
  const result = yield* resumeDelegation(turn, call, { args: { message }, name: tool }, to)
  if (result !== "waits") turn.background?.agents.delete(agent.id)
  return result
}

/** Continues the agents that worked in the background when another process stored the turn. */
export const restoreBackground = (turn: Turn): void => {
  const { root } = turn.session
  if (!hasBackground(turn) || !root.hasDurable || turn.background !== undefined) return
  for (const { answer, child, error, id, message, tool } of storedAgents(root.durable.turn)) {
    const all = turn.background ??= new BackgroundAgents()
    const to = turn.agent.delegates.get(tool)
    // The id of the call that started the sub-agent only names the parent of its events.
    const started = planned({ id, name: tool, args: { message } })
    const call: RunningCall = { state: child === undefined ? started : { ...started, child } }
    const state = childOf(call.state)
    if (to === undefined || state === undefined) {
      all.agents.set(id, { id, tool, message, work: undefined, isAwaited: true })
      continue
    }
    const agent = subAgentFor(turn, tool, to)
    if (Result.isFailure(agent)) continue
    const session = sessionOf(state, { root })
    session.status = "idle"
    const sub = subAgentRun({ parent: turn, call, agent: agent.success, session, state: storedTurn(state) }, to)
    const run = answer !== undefined
      ? Effect.succeed({ status: "completed", text: answer } as const)
      : error !== undefined
      ? Effect.fail(new PortFailed({ port: tool, message: error }))
      : sub.run(true)
    startInBackground(turn, { id, tool, message }, { sub, session, run })
  }
}

/** Rebuilds the sub-agent that worked for a call in another process. */
const rebuild = (turn: Turn, call: RunningCall, name: string, to: Delegate): Result.Result<SubAgentRun, string> => {
  const stored = childOf(call.state)
  if (stored === undefined) return Result.fail("the state of the sub-agent is missing")
  return Result.map(subAgentFor(turn, name, to), (agent) => {
    const session = sessionOf(stored, { root: turn.session.root })
    session.status = "idle"
    return subAgentRun({ parent: turn, call, agent, session, state: storedTurn(stored) }, to)
  })
}

/** The parts of the turn of a sub-agent. */
interface SubAgentParts {
  readonly parent: Turn
  /** The call for which it works. */
  readonly call: RunningCall
  readonly agent: ResolvedAgent
  readonly session: SessionState
  readonly state: TurnState
}

/** Makes the operations of the caller on the turn of a sub-agent. */
const subAgentRun = (
  { agent, call, parent, session, state }: SubAgentParts,
  { agent: delegated }: Delegate
): SubAgentRun => {
  const { operations } = parent
  const turn = new Turn({ agent, session, state, parent, parentCall: call.state.call.id, operations })
  const { core } = agent
  return {
    run: Effect.fnUntraced(function*(resumed: boolean) {
      const services = yield* targetOf(delegated)?.services ?? Effect.undefined
      const run = parent.operations.runTurn(turn, resumed)
      return yield* services === undefined
        ? run
        : Effect.updateContext(run, (now: Context.Context<never>) => Context.merge(services, now))
    }),
    pending: () => pendingOf(state.calls),
    decide: (decisions) => toEffect(() => applyDecisions(turn, decisions)),
    snapshot: () => turn.io.snapshot(),
    messages: () => turn.messages,
    spent: () => turn.spent,
    shutDown: Effect.suspend(() => shutDownCore(core, turn.session.id, (message) => parent.io.warn(message, "runtime")))
  }
}

/** Runs the turn of the other agent until it ends or waits. */
const runSubAgent = function*(
  turn: Turn,
  work: Work,
  delegation: Delegation,
  resumed: boolean
): Step<ToolResult | "waits", Failure> {
  const { call, sub } = work
  call.subAgent = sub
  if (call.state.child !== undefined) update(call, { type: "rebuild" })
  return yield* takeExit(turn, work, delegation, yield* Effect.exit(sub.run(resumed)))
}
