/**
 * Human approval of a tool call. Policies and hooks only say that somebody has to be asked; everything else is here:
 *
 * 1. the question: what is shown is what will run
 * 2. an approval that was remembered answers it (`standingRules`)
 * 3. somebody in this process answers: the function of the asking hook, or the agent's `onAsk`
 * 4. several answers follow one another for a quorum, or when an answer names somebody else to ask
 * 5. otherwise the call waits, and the run is suspended
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { AgentError } from "../../../data/AgentError.ts"
import { messageOf } from "../../../data/ErrorMessage.ts"
import { eventual } from "../../../data/Eventual.ts"
import { frozenCopy } from "../../../data/internal/copyJson.ts"
import type { Json } from "../../../data/Json.ts"
import { type Decision, isDecision, type PendingAsk } from "../../../data/RunState.ts"
import type { Ask } from "../../../hook/HookAction.ts"
import { fingerprint } from "../../../hook/HookChain.ts"
import type { Turn } from "../turn/turn.ts"
import type { Step } from "../turn/yieldable.ts"
import { countedAt, expiredDenial, whyNotCounted } from "./decision.ts"
import { hasStandingRule, rememberApproval } from "./standingRules.ts"
import { type RunningCall, update } from "./toolCallState.ts"

/** A question about a call. */
export interface Question {
  /** The name of the hook that asks, or `policy`. */
  readonly by: string
  /** What runs if it is approved. */
  readonly args: Json
  readonly ask: Omit<Ask, "_tag" | "args">
  /** Whether the hook wrote these arguments. */
  readonly isProposal?: boolean
}

/** Most answers to one question: those of a quorum, and those that name somebody else to ask. */
const maxAnswers = 16

/** Puts a question. `answered`: the call has a decision now. `waits`: it has to wait for one. */
export const askPerson = function*(
  turn: Turn,
  call: RunningCall,
  question: Question
): Step<"answered" | "waits", AgentError> {
  const now = yield* Clock.currentTimeMillis
  const ask = pendingAsk(turn, call, question, now)
  update(call, { type: "ask", ask })
  if (turn.depth > 0) return "waits"
  const { standing, answer = turn.agent.config.onAsk } = question.ask
  if (question.ask.answer !== undefined) call.answeredBy = question.by
  if (yield* hasStandingRule(turn, ask, standing)) {
    yield* applyDecision(turn, call, { type: "approve", by: "rule" }, standing)
    return "answered"
  }
  turn.io.publish({ type: "ask", ask })
  if (answer === undefined) return "waits"
  yield* collectAnswers(turn, call, answer, standing)
  return "answered"
}

/** The question as it is shown and stored. */
const pendingAsk = (turn: Turn, call: RunningCall, question: Question, now: number): PendingAsk => {
  const { args, ask, by, isProposal } = question
  const { id, name } = call.state.call
  const shown = frozenCopy(args)
  const pending: PendingAsk = {
    callId: id,
    ...(turn.parent === undefined ? {} : { agent: turn.agent.info.name }),
    tool: name,
    args: shown,
    by,
    ...(isProposal === true ? { proposed: true as const } : {}),
    reason: ask.reason,
    fingerprint: fingerprint(name, shown),
    ...conditionsOf(ask, now)
  }
  return turn.agent.config.approvals?.keys === undefined ? pending : { ...pending, nonce: crypto.randomUUID() }
}

/** The conditions of a hook, as far as they make sense: a hook may be untyped. */
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

/** Asks until the call is decided. */
const collectAnswers = function*(
  turn: Turn,
  call: RunningCall,
  answer: NonNullable<Ask["answer"]>,
  standing: Ask["standing"]
): Step<void, AgentError> {
  for (let count = 0; count < maxAnswers; count++) {
    const { ask, status } = call.state
    if (status !== "asked" || ask === undefined) return
    yield* applyDecision(turn, call, yield* oneAnswer(turn, ask, answer), standing)
  }
  if (call.state.status !== "asked") return
  const reason = `nobody decided: ${maxAnswers} answers named other approvers or were not enough`
  yield* applyDecision(turn, call, { type: "deny", reason }, standing)
}

/** One answer. Whatever is not a decision that counts is a denial. */
const oneAnswer = function*(turn: Turn, ask: PendingAsk, answer: NonNullable<Ask["answer"]>): Step<Decision> {
  const given = Effect.catchCause(eventual((signal) => answer(ask, { signal })), (cause) => {
    turn.io.warn(`the approval of ${ask.tool} failed: ${messageOf(Cause.squash(cause))}`, ask.by)
    return Effect.succeed<Decision>({ type: "deny", reason: `${ask.tool} was denied: its approval failed` })
  })
  const left = ask.expiresAt === undefined ? Infinity : ask.expiresAt - (yield* Clock.currentTimeMillis)
  const decision: unknown = yield* left === Infinity
    ? given
    : Effect.raceFirst(given, Effect.as(Effect.sleep(Math.max(0, left)), expiredDenial(ask)))
  if (!isDecision(decision)) return { type: "deny", reason: "the answer to the question is not a decision" }
  const why = whyNotCounted(ask, decision)
  return why === undefined ? decision : { type: "deny", reason: why }
}

/** Applies what somebody decided, and remembers it where the decision says so. */
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
