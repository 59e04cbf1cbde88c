/**
 * Hand work to another agent: fold the pre hooks, do the act, fold the post hooks. The other agent's turn is a part of
 * this one.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { AgentError } from "../../../data/AgentError.ts"
import type { Delegation, DelegationResult } from "../../../data/Delegation.ts"
import { messageOf } from "../../../data/ErrorMessage.ts"
import { digest } from "../../../data/Json.ts"
import * as RunState from "../../../data/RunState.ts"
import { failure, type PreToolCallEvent, success, type ToolResult } from "../../../data/Tool.ts"
import * as Usage from "../../../data/Usage.ts"
import type { RunResult } from "../../RunResult.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import type { Delegate, Resolved } from "../config/resolvedAgent.ts"
import { Session } from "../session/session.ts"
import { restore } from "../session/snapshot.ts"
import { settle } from "../tool/askPerson.ts"
import { Turn, type Work } from "../turn/turn.ts"
import { ended } from "../turn/turnEnd.ts"
import { derived, memberOf } from "./agentTree.ts"

type Failure = AgentError | TurnEnded

/** The result of the tool call that delegates; nothing when somebody has to decide first. */
export const delegated = function*(
  turn: Turn,
  work: Work,
  { args, name }: Pick<PreToolCallEvent, "args" | "name">,
  to: Delegate
): Effect.fn.Return<ToolResult | undefined, Failure> {
  const asked: Delegation = {
    agent: name,
    type: to.type,
    message: taskOf(args),
    ...(to.type === "transfer" ? { context: turn.messages.slice() } : {})
  }
  const before = turn.fold("preDelegation", asked)
  const pre = before !== undefined && Effect.isEffect(before) ? yield* before : before
  if (pre?.action._tag === "Reject") return failure(pre.action.reason)
  if (pre?.action._tag === "Abort") return yield* ended({ type: "aborted", reason: pre.action.reason, by: pre.by! })
  const delegation = pre?.event ?? asked
  if (pre?.action._tag === "Respond") return yield* concluded(turn, work, delegation, pre.action.output, false)
  const host = hostOf(turn, to)
  if (Result.isFailure(host)) return failure(host.failure)
  const { context = [], instructions, message } = delegation
  // The same whenever this call is made again: what the agent's tools are told stays the same.
  const session = new Session(`${turn.session.id}.${digest([turn.turnNumber, work.call.id])}`, {
    messages: context,
    state: {},
    turnNumber: 0,
    root: turn.session.root
  })
  const said = instructions === undefined ? message : `${instructions}\n\n${message}`
  work.sub = new Turn(host.success, session, { message: said }, 1, { parent: turn })
  return yield* worked(turn, work, delegation, to, false)
}

/** Goes on with the agent that a call delegates to, with what people have decided since. */
export const resumed = function*(
  turn: Turn,
  work: Work,
  { args, name }: Pick<PreToolCallEvent, "args" | "name">,
  to: Delegate
): Effect.fn.Return<ToolResult | undefined, Failure> {
  const state = work.child
  if (state !== undefined) {
    const host = hostOf(turn, to)
    if (Result.isFailure(host)) return failure(host.failure)
    const { hookState, injections, messages, sessionId, turnNumber } = state
    const session = new Session(sessionId, {
      messages,
      state: hookState,
      turnNumber,
      injections,
      root: turn.session.root
    })
    session.status = "idle"
    work.sub = restore(host.success, session, state, { parent: turn })
    delete work.child
  }
  const sub = work.sub!
  if (work.decisions !== undefined) yield* decide(sub, work.decisions, yield* Clock.currentTimeMillis)
  delete work.decisions
  return yield* worked(turn, work, { agent: name, type: to.type, message: taskOf(args) }, to, true)
}

/** Gives decisions to the calls they are about, at any depth. */
export const decide = function*(
  turn: Turn,
  decisions: NonNullable<Work["decisions"]>,
  now: number
): Effect.fn.Return<void, AgentError> {
  for (const work of turn.calls) {
    const { id } = work.call
    if (Object.hasOwn(decisions, id)) yield* settle(turn, work, decisions[id]!, now)
    const inner = Object.entries(decisions).flatMap(([key, decision]) =>
      key.startsWith(`${id}/`) ? [[key.slice(id.length + 1), decision] as const] : []
    )
    if (inner.length === 0 || (work.sub === undefined && work.child === undefined)) continue
    work.decisions = Object.fromEntries(inner)
    work.status = "decided"
  }
}

/** Runs the other agent's turn to one of its ends. */
const worked = function*(
  turn: Turn,
  work: Work,
  delegation: Delegation,
  to: Delegate,
  isResumed: boolean
): Effect.fn.Return<ToolResult | undefined, Failure> {
  const sub = work.sub!
  const services = yield* memberOf(to.agent)!.services
  const run = turn.host.run(sub, isResumed)
  const exit = yield* Effect.exit(
    services === undefined
      ? run
      : Effect.updateContext(run, (now: Context.Context<never>) => Context.merge(services, now))
  )
  if (exit._tag === "Failure" && Cause.hasInterruptsOnly(exit.cause)) return yield* Effect.interrupt
  if (exit._tag === "Success" && exit.value.status === "suspended") {
    work.status = "asked"
    return undefined
  }
  turn.usage = Usage.add(turn.usage, sub.usage)
  delete work.sub
  yield* shutDown(turn, sub)
  if (exit._tag === "Failure") return failure(messageOf(Cause.squash(exit.cause)))
  const result = exit.value
  if (result.status === "aborted") {
    work.result = failure(`${delegation.agent} was aborted: ${result.reason}`)
    return yield* ended({ type: "aborted", reason: result.reason, by: result.by })
  }
  if (result.status !== "completed") return failure(`${delegation.agent} was ${result.status}: ${why(result)}`)
  return yield* concluded(turn, work, delegation, { text: result.text }, true)
}

const why = (result: RunResult): string =>
  result.status === "limited" ? `${result.limit} ${result.used} of ${result.max}` : result.text

const concluded = function*(
  turn: Turn,
  work: Work,
  delegation: Delegation,
  result: DelegationResult,
  executed: boolean
): Effect.fn.Return<ToolResult, Failure> {
  const after = turn.fold("postDelegation", { delegation, result, executed })
  const post = after !== undefined && Effect.isEffect(after) ? yield* after : after
  if (post?.action._tag === "Reject") return failure(post.action.reason)
  if (post?.action._tag === "Abort") return yield* ended({ type: "aborted", reason: post.action.reason, by: post.by! })
  const { text } = post === undefined ? result : post.event.result
  if (delegation.type === "transfer") work.takenOver = text
  return success(text)
}

const hostOf = (turn: Turn, { agent }: Delegate): Result.Result<Resolved, string> => {
  const member = memberOf(agent)
  return member === undefined
    ? Result.fail("there is no such agent")
    : Result.mapError(derived(turn.host, member.host), ({ message }) => message)
}

/** The core of an agent is let go when its work is done. */
const shutDown = (turn: Turn, { host: { core }, session }: Turn): Effect.Effect<void> =>
  core.shutdown === undefined
    ? Effect.void
    : Effect.catchCause(
      core.shutdown(session.id),
      (cause) =>
        Effect.sync(() => turn.warn(`shutdown of the core failed: ${messageOf(Cause.squash(cause))}`, "runtime"))
    )

const taskOf = (args: unknown): string =>
  typeof args === "object" && args !== null && "message" in args && typeof args.message === "string"
    ? args.message
    : JSON.stringify(args)

/** The open questions of a turn, those of the agents it has handed work to among them. */
export const pendingOf = (turn: Turn): ReadonlyArray<RunState.PendingAsk> =>
  turn.calls.flatMap(({ ask, call, child, status, sub }) => {
    if (status !== "asked") return []
    const inner = sub !== undefined ? pendingOf(sub) : child !== undefined ? RunState.pending(child) : undefined
    return inner === undefined
      ? (ask === undefined ? [] : [ask])
      : inner.map((one) => ({ ...one, callId: `${call.id}/${one.callId}` }))
  })
