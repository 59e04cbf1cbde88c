/**
 * Human approval of a tool call, after a policy or a hook has asked for it:
 * 1. makes the question; it shows exactly what will run
 * 2. looks for a remembered approval that answers it (`standingRules`)
 * 3. asks somebody in this process: the function of the asking hook, or the agent's `onAsk`
 * 4. asks again while a quorum is not reached, or when an answer names other approvers
 * 5. if there is no decision, the call waits and the run is suspended
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { AgentError } from "../../../data/AgentError.ts"
import { eventual } from "../../../data/effect/Eventual.ts"
import { frozenCopy } from "../../../data/internal/copyJson.ts"
import type { Json } from "../../../data/Json.ts"
import { defined } from "../../../data/option/Fields.ts"
import { type Decision, type PendingAsk, readDecision } from "../../../data/RunState.ts"
import { messageOf } from "../../../data/text/ErrorMessage.ts"
import { type DefinitionChange, definitionOf } from "../../../data/tool/ToolDefinition.ts"
import type { Ask } from "../../../hook/HookAction.ts"
import { fingerprint } from "../../../hook/HookChain.ts"
import { parkRequested } from "../control/parkRequest.ts"
import type { Turn } from "../turn/turn.ts"
import { type Step, toEffect } from "../turn/yieldable.ts"
import { countedAt, expiredDenial, whyNotCounted } from "./decision.ts"
import { findStandingRule, rememberApproval } from "./standingRules.ts"
import { type RunningCall, update } from "./toolCallState.ts"

/** A question about a call. */
export interface Question {
  /** The name of the hook that asks, or `policy`. */
  readonly by: string
  /** The call that runs if it is approved. */
  readonly args: Json
  readonly ask: Omit<Ask, "_tag" | "args">
  /** Whether the hook wrote these arguments. */
  readonly isProposal?: boolean
  /** Whether the client runs the tool, so that nobody in this process can answer. */
  readonly isForClient?: boolean
  /** Set if the question was decided before, and the tool has changed since. The earlier conditions still apply. */
  readonly again?: { readonly changed: ReadonlyArray<DefinitionChange>; readonly earlier: PendingAsk }
}

/**
 * The maximum number of answers to one question. The approvals of a quorum and the answers that name other approvers
 * count.
 */
const maxAnswers = 16

/** Asks a question. `answered` means that the call has a decision now; `waits` means that it must wait for one. */
export const askPerson = function*(
  turn: Turn,
  call: RunningCall,
  question: Question
): Step<"answered" | "waits", AgentError> {
  const now = yield* Clock.currentTimeMillis
  const tool = turn.agent.tools.get(call.state.call.name)
  const asked = pendingAsk(turn, call, question, now)
  const known = tool === undefined ? asked : { ...asked, definition: yield* definitionOf(tool) }
  const { standing, answer = turn.agent.config.onAsk } = question.ask
  const remembered = turn.depth > 0 ? "none" : yield* findStandingRule(turn, known, standing)
  const changed = question.again?.changed ?? (typeof remembered === "string" ? undefined : remembered)
  const ask = changed === undefined ? known : { ...known, changed }
  update(call, { type: "ask", ask })
  if (turn.depth > 0) return "waits"
  if (question.ask.answer !== undefined) call.answeredBy = question.by
  if (remembered === "counts") {
    yield* applyDecision(turn, call, { type: "approve", by: "rule" }, standing)
    return "answered"
  }
  turn.io.publish({ type: "ask", ask })
  if (answer === undefined || question.isForClient === true) return "waits"
  yield* collectAnswers(turn, call, answer, standing)
  return call.state.status === "asked" ? "waits" : "answered"
}

/** Makes the question that is shown and stored. */
const pendingAsk = (turn: Turn, call: RunningCall, question: Question, now: number): PendingAsk => {
  const { again, args, ask, by, isForClient, isProposal } = question
  const { id, name } = call.state.call
  const shown = frozenCopy(args)
  const pending: PendingAsk = {
    callId: id,
    ...(turn.parent === undefined ? {} : { agent: turn.agent.info.name }),
    tool: name,
    args: shown,
    by,
    ...(isProposal === true ? { proposed: true as const } : {}),
    ...(isForClient === true ? { client: true as const } : {}),
    reason: ask.reason,
    fingerprint: fingerprint(name, shown),
    ...(again === undefined ? conditionsOf(ask, now) : earlierConditions(again.earlier))
  }
  return turn.agent.config.approvals?.keys === undefined ? pending : { ...pending, nonce: crypto.randomUUID() }
}

/** Returns the valid conditions of a hook. An untyped hook may have invalid ones. */
const conditionsOf = (
  { allowed, approvers, details, expiresInMs, quorum }: Question["ask"],
  now: number
): Partial<PendingAsk> => ({
  ...(Array.isArray(allowed) ? { allowed } : {}),
  ...(details === undefined ? {} : { details }),
  ...(typeof expiresInMs === "number" && Number.isFinite(expiresInMs) ? { expiresAt: now + expiresInMs } : {}),
  ...(Array.isArray(approvers) ? { approvers } : {}),
  ...(typeof quorum === "number" && quorum > 1 ? { quorum: Math.ceil(quorum) } : {})
})

const earlierConditions = (
  { allowed, approvers, details, expiresAt, quorum }: PendingAsk
): Partial<PendingAsk> => defined({ allowed, approvers, details, expiresAt, quorum })

/** Asks in this process until the call is decided. If the turn is parked before, the question stays open. */
const collectAnswers = function*(
  turn: Turn,
  call: RunningCall,
  answer: NonNullable<Ask["answer"]>,
  standing: Ask["standing"]
): Step<void, AgentError> {
  for (let count = 0; count < maxAnswers; count++) {
    const { ask, status } = call.state
    if (status !== "asked" || ask === undefined) return
    const given = yield* Effect.raceFirst(
      toEffect(() => oneAnswer(turn, ask, answer)),
      Effect.as(parkRequested(turn), undefined)
    )
    if (given === undefined) return
    yield* applyDecision(turn, call, given, standing)
  }
  if (call.state.status !== "asked") return
  const reason = `nobody decided: ${maxAnswers} answers named other approvers or were not enough`
  yield* applyDecision(turn, call, { type: "deny", reason }, standing)
}

/** Gets one answer. An answer that is not a valid decision is a denial. */
const oneAnswer = function*(turn: Turn, ask: PendingAsk, answer: NonNullable<Ask["answer"]>): Step<Decision> {
  const { session: { root: { id: sessionId } } } = turn
  const given = Effect.catchCause(eventual((signal) => answer(ask, { signal, sessionId })), (cause) => {
    turn.io.warn(`the approval of ${ask.tool} failed: ${messageOf(Cause.squash(cause))}`, ask.by)
    return Effect.succeed<Decision>({ type: "deny", reason: `${ask.tool} was denied: its approval failed` })
  })
  const left = ask.expiresAt === undefined ? Infinity : ask.expiresAt - (yield* Clock.currentTimeMillis)
  const decision = readDecision(
    yield* left === Infinity
      ? given
      : Effect.raceFirst(given, Effect.as(Effect.sleep(Math.max(0, left)), expiredDenial(ask)))
  )
  if (decision === undefined) return { type: "deny", reason: "the answer to the question is not a decision" }
  const why = whyNotCounted(ask, decision)
  return why === undefined ? decision : { type: "deny", reason: why }
}

/** Applies a decision, and remembers it if the decision asks for that. */
export const applyDecision = function*(
  turn: Turn,
  call: RunningCall,
  given: Decision,
  standing?: Ask["standing"]
): Step<void, AgentError> {
  const { ask, status } = call.state
  if (ask === undefined || status !== "asked") return
  const decision = countedAt(ask, given, yield* Clock.currentTimeMillis)
  const { by, type } = decision
  turn.io.publish({ type: "decided", callId: ask.callId, decision: type, ...(by === undefined ? {} : { by }) })
  update(call, { type: "decide", decision })
  if (call.state.status === "decided") yield* rememberApproval(turn, ask, decision, standing)
}
