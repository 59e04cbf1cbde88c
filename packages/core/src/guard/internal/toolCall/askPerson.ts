/**
 * Human approval of a tool call, after the policy or hooks have asked for it:
 * 1. makes one question of all of them; it shows exactly what will run
 * 2. looks for remembered approvals that answer it (`standingRules`)
 * 3. asks somebody in this process: the function of an asking hook, or the agent's `onAsk`
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
import type { Deadlines } from "../io/deadlines.ts"
import type { GuardTurn } from "../point/guardTurn.ts"
import { countedAt, expiredDenial, whyNotCounted } from "../state/decision.ts"
import { answerOf, earliest, narrowest, type Questions, questionsOf, strictest } from "../state/questions.ts"
import { type RunningCall, update } from "../state/toolCallState.ts"
import { type Step, toEffect } from "../state/yieldable.ts"
import { findStandingRule, rememberApproval } from "./standingRules.ts"

/** A question about a call. */
export interface Question {
  /** The arguments with which the call runs if it is approved. */
  readonly args: Json
  /** Everybody who asks. */
  readonly questions: Questions
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
  turn: GuardTurn,
  call: RunningCall,
  question: Question
): Step<"answered" | "waits", AgentError> {
  const now = yield* Clock.currentTimeMillis
  const tool = turn.agent.tools.get(call.state.call.name)
  const questions = narrowest(question.questions)
  const asked = pendingAsk(turn, call, { ...question, questions }, now)
  const known = tool === undefined ? asked : { ...asked, definition: yield* definitionOf(tool) }
  const { answer = turn.agent.config.onAsk, by: answeredBy } = answerOf(questions) ?? {}
  const remembered = turn.depth > 0 ? "none" : yield* findStandingRule(turn, known, questions)
  const changed = question.again?.changed ?? (typeof remembered === "string" ? undefined : remembered)
  const ask = changed === undefined ? known : { ...known, changed }
  update(call, { type: "ask", ask })
  if (turn.depth > 0) return "waits"
  if (answeredBy !== undefined) call.answeredBy = answeredBy
  if (remembered === "counts") {
    turn.io.publish({ type: "decided", callId: ask.callId, decision: "approve", by: "rule" })
    update(call, { type: "remembered" })
    return "answered"
  }
  turn.io.publish({ type: "ask", ask })
  if (answer === undefined || question.isForClient === true) return "waits"
  yield* collectAnswers(turn, call, answer, questions)
  return call.state.status === "asked" ? "waits" : "answered"
}

/** Makes the question that is shown and stored. */
const pendingAsk = (turn: GuardTurn, call: RunningCall, question: Question, now: number): PendingAsk => {
  const { again, args, isForClient, questions } = question
  const { id, name } = call.state.call
  const shown = frozenCopy(args)
  const [{ by }] = questions
  const pending: PendingAsk = {
    callId: id,
    ...(turn.parent === undefined ? {} : { agent: turn.agent.info.name }),
    tool: name,
    args: shown,
    by,
    ...(isForClient === true ? { client: true as const } : {}),
    fingerprint: fingerprint(name, shown),
    ...(again === undefined ? partsOf(name, questions, now) : earlierParts(again.earlier))
  }
  return turn.agent.config.approvals?.keys === undefined ? pending : { ...pending, nonce: crypto.randomUUID() }
}

type Parts = Pick<PendingAsk, "reason"> & Partial<PendingAsk>

/** The reasons and the terms of a question. */
const partsOf = (tool: string, questions: Questions, now: number): Parts => {
  const terms = strictest(tool, questions)
  const left = earliest(questions)
  const { standing } = questions[0].ask
  const reasons = questions.map(({ ask: { details, reason }, by }) => defined({ by, reason, details }))
  return {
    reason: [...new Set(reasons.map(({ reason }) => reason))].join("; "),
    ...(reasons.length === 1 ? {} : { reasons }),
    ...defined({
      details: reasons.find(({ details }) => details !== undefined)?.details,
      expiresAt: left === Infinity ? undefined : now + left,
      standing: standing === undefined || typeof standing === "object" ? undefined : standing
    }),
    // Questions that nobody can answer together are denied before.
    ...(typeof terms === "string" ? {} : terms)
  }
}

const earlierParts = (
  { allowed, approvers, details, expiresAt, quorum, reason, reasons }: PendingAsk
): Parts => ({
  reason,
  ...defined({ allowed, approvers, details, expiresAt, quorum, reasons, standing: "none" as const })
})

/** Asks in this process until the call is decided. If the turn is parked before, the question stays open. */
const collectAnswers = function*(
  turn: GuardTurn,
  call: RunningCall,
  answer: NonNullable<Ask["answer"]>,
  questions: Questions
): Step<void, AgentError> {
  for (let count = 0; count < maxAnswers; count++) {
    const { ask, status } = call.state
    if (status !== "asked" || ask === undefined) return
    const given = yield* withoutClock(
      turn,
      Effect.raceFirst(toEffect(() => oneAnswer(turn, ask, answer)), Effect.as(turn.parkRequested, undefined))
    )
    if (given === undefined) return
    yield* applyDecision(turn, call, given, questions)
  }
  if (call.state.status !== "asked") return
  const reason = `nobody decided: ${maxAnswers} answers named other approvers or were not enough`
  yield* applyDecision(turn, call, { type: "deny", reason }, questions)
}

/** Stops the clock of the turn, and of those that it works for, while somebody is asked. */
const withoutClock = <A, E>(turn: GuardTurn, asking: Effect.Effect<A, E>): Effect.Effect<A, E> => {
  const clocks: Array<Deadlines> = []
  for (let one: GuardTurn | undefined = turn; one !== undefined; one = one.parent) clocks.push(one.io.deadlines)
  return Effect.acquireUseRelease(
    Effect.sync(() => clocks.forEach((clock) => clock.beginQuestion())),
    () => asking,
    () => Effect.sync(() => clocks.forEach((clock) => clock.endQuestion()))
  )
}

/** Gets one answer. An answer that is not a valid decision is a denial. */
const oneAnswer = function*(turn: GuardTurn, ask: PendingAsk, answer: NonNullable<Ask["answer"]>): Step<Decision> {
  const { session: { root: { id: sessionId } } } = turn
  const given = Effect.catchCause(eventual((signal) => answer(ask, { signal, sessionId })), (cause) => {
    turn.io.warn(`the approval of ${ask.tool} failed: ${messageOf(Cause.squash(cause))}`, ask.by)
    return Effect.succeed<Decision>({ type: "deny", reason: `${ask.tool} was denied: its approval failed` })
  })
  const left = ask.expiresAt === undefined ? Infinity : ask.expiresAt - (yield* Clock.currentTimeMillis)
  const decision = readDecision(
    yield* left === Infinity
      ? given
      : Effect.raceFirst(given, Effect.as(Effect.sleep(left), expiredDenial(ask)))
  )
  if (decision === undefined) return { type: "deny", reason: "the answer to the question is not a decision" }
  const why = whyNotCounted(ask, decision)
  return why === undefined ? decision : { type: "deny", reason: why }
}

/** Applies a decision, and remembers it if the decision asks for that. */
export const applyDecision = function*(
  turn: GuardTurn,
  call: RunningCall,
  given: Decision,
  questions?: Questions
): Step<void, AgentError> {
  const { ask, status } = call.state
  if (ask === undefined || status !== "asked") return
  const decision = countedAt(ask, given, yield* Clock.currentTimeMillis)
  const { by, type } = decision
  const edited = decision.type === "edit" ? { args: decision.args } : {}
  turn.io.publish({
    type: "decided",
    callId: ask.callId,
    decision: type,
    ...(by === undefined ? {} : { by }),
    ...edited
  })
  update(call, { type: "decide", decision })
  const { ask: answered, status: now } = call.state
  if (now === "decided" && answered !== undefined && type === "approve") {
    yield* rememberApproval(turn, answered, questions ?? questionsOf(answered))
  }
}
