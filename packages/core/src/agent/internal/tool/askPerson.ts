/**
 * May it run? The policy's word, and a person's: asking, remembering what was answered, and for exactly which
 * arguments.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type AgentError, PortFailed } from "../../../data/AgentError.ts"
import { messageOf } from "../../../data/ErrorMessage.ts"
import { frozenCopy } from "../../../data/internal/copyJson.ts"
import type { Json } from "../../../data/Json.ts"
import { type Decision, isDecision, type PendingAsk } from "../../../data/RunState.ts"
import { type ExecutionGrant, type ToolMeta, unrestricted } from "../../../data/Tool.ts"
import type * as HookAction from "../../../hook/HookAction.ts"
import { fingerprint } from "../../../hook/HookChain.ts"
import * as HookState from "../../../hook/HookState.ts"
import type { PolicyAnswer } from "../../../port/RuntimePolicy.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import type { Turn, Work } from "../turn/turn.ts"
import { ended } from "../turn/turnEnd.ts"

export type Permit = { readonly type: "allow"; readonly grant: ExecutionGrant } | {
  readonly type: "deny"
  readonly reason: string
  readonly by: string
}

/** The policy's word on these arguments; where it asks, the permission hooks' and then a person's. */
export const allowed = function*(
  turn: Turn,
  work: Work,
  tool: ToolMeta,
  args: Json
): Effect.fn.Return<Permit | "decided" | undefined, AgentError | TurnEnded> {
  const { policy } = turn.host
  if (policy === undefined) return { type: "allow", grant: unrestricted }
  const call = { ...work.call, args }
  const checked = yield* check(policy.check.bind(policy, call, tool))
  if (checked.type === "allow") return checked
  if (checked.type === "deny") return { ...checked, by: "policy" }
  const text = fingerprint(tool.name, args)
  if (isSettled(work, "policy", () => text)) return { type: "allow", grant: checked.grant }

  const folded = turn.fold("onPermission", {
    call,
    tool,
    reason: checked.reason,
    decision: { type: "ask", reason: checked.reason }
  })
  const outcome = folded !== undefined && Effect.isEffect(folded) ? yield* folded : folded
  if (outcome?.action._tag === "Reject") return { type: "deny", reason: outcome.action.reason, by: outcome.by! }
  if (outcome?.action._tag === "Abort") {
    return yield* ended({ type: "aborted", reason: outcome.action.reason, by: outcome.by! })
  }
  const decision = outcome?.event.decision
  if (decision?.type === "allow") return { type: "allow", grant: checked.grant }
  if (decision?.type === "deny") return { type: "deny", reason: decision.reason, by: outcome!.by! }
  const question = outcome?.action._tag === "Ask" ? outcome.action : { reason: checked.reason }
  return (yield* ask(turn, work, "policy", question, args)) ? "decided" : undefined
}

const check = (run: () => PolicyAnswer | Effect.Effect<PolicyAnswer, unknown>): Effect.Effect<PolicyAnswer> =>
  Effect.catchCause(
    Effect.suspend(() => {
      const answer = run()
      return Effect.isEffect(answer) ? Effect.flatMap(answer, readable) : readable(answer)
    }),
    (cause): Effect.Effect<PolicyAnswer> =>
      Effect.succeed({
        type: "deny",
        reason: `the policy failed, so nothing is allowed: ${messageOf(Cause.squash(cause))}`
      })
  )

/** A policy from outside may answer anything; what cannot be read allows nothing. */
const readable = (answer: PolicyAnswer): Effect.Effect<PolicyAnswer, string> =>
  answer?.type === "deny" ||
    ((answer?.type === "allow" || answer?.type === "ask") && typeof answer.grant === "object" && answer.grant !== null)
    ? Effect.succeed(answer)
    : Effect.fail("its answer is neither allow nor ask with a grant, nor deny")

type Question = Omit<HookAction.Ask, "_tag">

/**
 * Questions that may follow one another in place: approvers of a quorum, and those to whom the answer was handed on.
 */
const maxRounds = 16

/**
 * Puts a question: true when it was answered (in place, or by an earlier approval), false when the call has to wait.
 */
export const ask = function*(
  turn: Turn,
  work: Work,
  by: string,
  question: Question,
  args: Json
): Effect.fn.Return<boolean, AgentError> {
  const { approvals, onAsk } = turn.host.config
  const { call } = work
  const now = yield* Clock.currentTimeMillis
  // What is shown is what will run, whatever becomes of the original meanwhile.
  const shown = frozenCopy(args)
  work.ask = {
    callId: call.id,
    ...(turn.parent === undefined ? {} : { agent: turn.agent.name }),
    tool: call.name,
    args: shown,
    by,
    ...(question.args === undefined ? {} : { proposed: true as const }),
    reason: question.reason,
    fingerprint: fingerprint(call.name, shown),
    ...conditions(question, now),
    ...(approvals?.keys === undefined ? {} : { nonce: crypto.randomUUID() })
  }
  work.status = "asked"
  if (turn.depth > 0) return false
  if (yield* isStanding(turn, work.ask)) {
    yield* settle(turn, work, { type: "approve", by: "rule" }, now)
    return true
  }
  turn.publish({ type: "ask", ask: work.ask })
  if (onAsk === undefined) return false
  for (let round = 0; round < maxRounds && work.status === "asked"; round++) {
    const pending: PendingAsk = work.ask
    const answer = Effect.suspend(() => {
      const given = onAsk(pending, { signal: turn.signal })
      return Effect.isEffect(given) ? given : Effect.tryPromise(() => Promise.resolve(given))
    })
    const left = pending.expiresAt === undefined ? Infinity : pending.expiresAt - now
    const decision = yield* Effect.catchCause(
      left === Infinity
        ? answer
        : Effect.raceFirst(
          answer,
          Effect.as(Effect.sleep(Math.max(0, left)), { type: "deny", reason: expired } as const)
        ),
      (cause) =>
        Effect.succeed({ type: "deny" as const, reason: `nobody could be asked: ${messageOf(Cause.squash(cause))}` })
    )
    const wrong = isDecision(decision) ? whyNotFrom(pending, decision) : "the one who was asked gave no decision"
    yield* settle(
      turn,
      work,
      wrong === undefined ? decision as Decision : { type: "deny", reason: wrong },
      yield* Clock.currentTimeMillis
    )
  }
  if (work.status === "asked") {
    yield* settle(turn, work, { type: "deny", reason: `nobody decided in ${maxRounds} rounds` }, now)
  }
  return true
}

const expired = "the question expired before anybody decided"

/** What a hook asks for beside the question, where it makes sense. */
const conditions = (
  { allowed, approvers, details, expiresInMs, quorum }: Question,
  now: number
): Partial<PendingAsk> => ({
  ...(Array.isArray(allowed) ? { allowed } : {}),
  ...(details === undefined ? {} : { details }),
  ...(typeof expiresInMs === "number" && Number.isFinite(expiresInMs) ? { expiresAt: now + expiresInMs } : {}),
  ...(Array.isArray(approvers) ? { approvers } : {}),
  ...(typeof quorum === "number" && quorum > 1 ? { quorum: Math.ceil(quorum) } : {})
})

/** Says why this decision does not count for this question, if it does not. */
export const whyNotFrom = (ask: PendingAsk, decision: Decision): string | undefined => {
  const { by, type } = decision
  if (ask.allowed !== undefined && !ask.allowed.includes(type)) {
    return `${type} is no answer to this: expected ${ask.allowed.join(", ")}`
  }
  if (ask.approvers !== undefined && (by === undefined || !ask.approvers.includes(by))) {
    return `${by ?? "somebody without a name"} may not decide about ${ask.tool}, only ${ask.approvers.join(", ")}`
  }
  if ((ask.quorum ?? 1) === 1) return undefined
  if (type === "edit" || type === "respond") {
    return `${ask.tool} needs ${ask.quorum} approvals: it can be approved, denied or handed on`
  }
  return type === "approve" && by === undefined
    ? `${ask.tool} needs ${ask.quorum} approvals: messageOf who approves`
    : undefined
}

/** Whether an earlier approval answers the question. */
const isStanding = function*(
  turn: Turn,
  { by, fingerprint: text, tool }: PendingAsk
): Effect.fn.Return<boolean, AgentError> {
  const { approvals } = turn.host.config
  const { root } = turn.session
  const own = root.hasDurable ? root.durable.conversation.get(standing) : []
  const project = approvals?.rules === undefined ? [] : yield* rules(approvals.rules.load)
  return [...own, ...project].some((rule) =>
    rule.hook === by && rule.tool === tool && (rule.fingerprint === undefined || rule.fingerprint === text)
  )
}

const rules = <A>(effect: Effect.Effect<A, unknown>): Effect.Effect<A, PortFailed> =>
  Effect.catchCause(effect, (why) => {
    const cause = Cause.squash(why)
    return new PortFailed({ port: "approvals.rules", message: `the approval rules failed: ${messageOf(cause)}`, cause })
  })

/** Rules of the conversation. Nobody but the runtime writes them. */
const standing = HookState.key(
  "approvals/standing",
  Schema.Array(
    Schema.Struct({ hook: Schema.String, tool: Schema.String, fingerprint: Schema.optionalKey(Schema.String) })
  ),
  [],
  { writers: ["runtime"] }
)

/** Stands for all hooks of the chain. */
export const everyHook = "*"

export const remember = (work: Work, hook: string, text: string, edited = false): void =>
  void (work.settled ??= []).push(edited ? { hook, fingerprint: text, edited } : { hook, fingerprint: text })

export const isSettled = (work: Work, hook: string, text: () => string): boolean =>
  work.settled !== undefined && work.settled.some((one) => one.hook === hook && one.fingerprint === text())

/**
 * Notes what somebody decided. Once the question is answered, the hook is not asked again about exactly these
 * arguments.
 */
export const settle = function*(
  turn: Turn,
  work: Work,
  given: Decision,
  now: number
): Effect.fn.Return<void, AgentError> {
  const { ask } = work
  if (ask === undefined || work.status !== "asked") return
  const decision: Decision = ask.expiresAt !== undefined && now >= ask.expiresAt
    ? { type: "deny", reason: expired }
    : given
  const { by, type } = decision
  turn.publish({ type: "decided", callId: ask.callId, decision: type, ...(by === undefined ? {} : { by }) })
  if (type === "delegate") {
    work.ask = { ...ask, approvers: decision.to }
    return
  }
  if (type === "approve" && by !== "rule" && (ask.quorum ?? 1) > 1) {
    const approved = [...new Set([...(ask.approved ?? []), ...(by === undefined ? [] : [by])])]
    work.ask = { ...ask, approved }
    if (approved.length < ask.quorum!) return
  }
  work.decision = decision
  work.status = "decided"
  if (type !== "approve") return
  remember(work, ask.by, fingerprint(ask.tool, ask.args))
  if (decision.remember === undefined) return
  const rule = {
    hook: ask.by,
    tool: ask.tool,
    ...(decision.remember.what === "arguments" ? { fingerprint: ask.fingerprint } : {})
  }
  const project = decision.remember.scope === "project" ? turn.host.config.approvals?.rules : undefined
  if (project !== undefined) return yield* rules(project.add(rule))
  const { conversation } = turn.session.root.durable
  conversation.write(standing, [...conversation.get(standing), rule], "runtime")
}
