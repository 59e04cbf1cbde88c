/** May it run? The policy's word, and a person's: asking, remembering what was answered, and for exactly which arguments. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { AgentError } from "../../data/AgentError.ts"
import type { Json } from "../../data/Json.ts"
import { type Decision, isDecision } from "../../data/RunState.ts"
import { type ExecutionGrant, type ToolMeta, unrestricted } from "../../data/Tool.ts"
import { fingerprint } from "../../hook/HookChain.ts"
import type { PolicyAnswer } from "../../port/RuntimePolicy.ts"
import type { TurnEnded } from "../TurnEnded.ts"
import { say } from "./say.ts"
import type { Turn, Work } from "./turn.ts"

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

  const folded = turn.fold("onPermission", { call, tool, reason: checked.reason, decision: { type: "ask", reason: checked.reason } })
  const outcome = folded !== undefined && Effect.isEffect(folded) ? yield* folded : folded
  if (outcome?.action._tag === "Reject") return { type: "deny", reason: outcome.action.reason, by: outcome.by! }
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
      Effect.succeed({ type: "deny", reason: `the policy failed, so nothing is allowed: ${say(Cause.squash(cause))}` })
  )

/** A policy from outside may answer anything; what cannot be read allows nothing. */
const readable = (answer: PolicyAnswer): Effect.Effect<PolicyAnswer, string> =>
  answer?.type === "deny" ||
    ((answer?.type === "allow" || answer?.type === "ask") && typeof answer.grant === "object" && answer.grant !== null)
    ? Effect.succeed(answer)
    : Effect.fail("its answer is neither allow nor ask with a grant, nor deny")

type Question = { readonly reason: string; readonly details?: Json }

/** Puts a question: true when it was answered in place, false when the call has to wait. */
export const ask = function*(turn: Turn, work: Work, by: string, question: Question, args: Json): Effect.fn.Return<boolean> {
  const { onAsk } = turn.host.config
  const { call } = work
  const { details, reason } = question
  work.ask = {
    callId: call.id,
    tool: call.name,
    args,
    by,
    reason,
    ...(details === undefined ? undefined : { details }),
    fingerprint: fingerprint(call.name, args)
  }
  work.status = "asked"
  turn.publish({ type: "ask", ask: work.ask })
  if (onAsk === undefined) return false
  const pending = work.ask
  const decision = yield* Effect.catchCause(
    Effect.suspend(() => {
      const answer = onAsk(pending, { signal: turn.signal })
      return Effect.isEffect(answer) ? answer : Effect.tryPromise(() => Promise.resolve(answer))
    }),
    (cause) => Effect.succeed({ type: "deny" as const, reason: `nobody could be asked: ${say(Cause.squash(cause))}` })
  )
  settle(turn, work, isDecision(decision) ? decision : { type: "deny", reason: "the one who was asked gave no decision" })
  return true
}

/** Stands for all hooks of the chain. */
export const everyHook = "*"

export const remember = (work: Work, hook: string, text: string): void => void (work.settled ??= []).push({ hook, fingerprint: text })

export const isSettled = (work: Work, hook: string, text: () => string): boolean =>
  work.settled !== undefined && work.settled.some((one) => one.hook === hook && one.fingerprint === text())

/** Notes a person's decision: the hook is not asked again about exactly these arguments. */
export const settle = (turn: Turn, work: Work, decision: Decision): void => {
  const { ask } = work
  if (ask === undefined) return
  work.decision = decision
  work.status = "decided"
  if (decision.type === "approve") remember(work, ask.by, fingerprint(ask.tool, ask.args))
  turn.publish({ type: "decided", callId: ask.callId, decision: decision.type })
}
