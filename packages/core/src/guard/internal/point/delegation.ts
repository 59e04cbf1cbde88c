/** Runs the hooks before and after another agent works for a tool call. */
import type { Delegation, DelegationResult, PostDelegationEvent } from "../../../data/Delegation.ts"
import type { TurnEnded } from "../../TurnEnded.ts"
import { abortOf } from "../state/turnEnd.ts"
import type { Step } from "../state/yieldable.ts"
import { askHooks } from "./askHooks.ts"
import type { GuardTurn } from "./guardTurn.ts"

/** What the hooks decide about a delegation: it starts, a hook answers in place of the agent, or it does not start. */
export type AllowedDelegation =
  | { readonly type: "start"; readonly delegation: Delegation }
  | { readonly type: "answer"; readonly delegation: Delegation; readonly result: DelegationResult }
  | { readonly type: "refuse"; readonly reason: string; readonly by: string }

/** Runs the `preDelegation` hooks. */
export const allowDelegation = function*(turn: GuardTurn, asked: Delegation): Step<AllowedDelegation, TurnEnded> {
  const outcome = yield* askHooks(turn, "preDelegation", asked)
  if (outcome === undefined) return { type: "start", delegation: asked }
  const { action, by = "hook", event: delegation } = outcome
  if (action._tag === "Reject") return { type: "refuse", reason: action.reason, by }
  const abort = abortOf(outcome)
  if (abort !== undefined) return yield* abort
  return action._tag === "Respond"
    ? { type: "answer", delegation, result: action.output }
    : { type: "start", delegation }
}

/** What the calling agent reads: the answer of the other agent, or why it is withheld. */
export type FinishedDelegation =
  | { readonly type: "answer"; readonly text: string }
  | { readonly type: "refuse"; readonly reason: string; readonly by: string }

/** Runs the `postDelegation` hooks. */
export const finishDelegation = function*(
  turn: GuardTurn,
  ended: PostDelegationEvent
): Step<FinishedDelegation, TurnEnded> {
  const outcome = yield* askHooks(turn, "postDelegation", ended)
  if (outcome?.action._tag === "Reject") {
    return { type: "refuse", reason: outcome.action.reason, by: outcome.by ?? "hook" }
  }
  const abort = abortOf(outcome)
  if (abort !== undefined) return yield* abort
  return { type: "answer", text: (outcome?.event.result ?? ended.result).text }
}
