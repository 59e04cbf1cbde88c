/** Ends a turn from inside a step: without an error (`TurnEnded`), or with the error of a hook's rejection. */
import * as Effect from "effect/Effect"
import { HookFailed, HookRejected } from "../../../data/AgentError.ts"
import type { Outcome } from "../../../hook/HookChain.ts"
import type { HookPointName } from "../../../hook/HookPoint.ts"
import type { TurnEnded } from "../../TurnEnded.ts"

/** Ends the turn from inside. A plain object, not an `Error`: no stack is captured. */
export const endTurn = (end: TurnEnded["end"]): Effect.Effect<never, TurnEnded> =>
  Effect.fail({ _tag: "TurnEnded", end })

/** Whether a failure is a `TurnEnded`. */
export const isTurnEnd = (error: unknown): error is TurnEnded =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "TurnEnded"

/**
 * Applies a decision of hooks that ends the turn: a Reject fails with its error, an Abort ends the turn. If a Reject
 * has another meaning at a point, the caller handles it before.
 */
export const stopOf = <P extends HookPointName>(
  point: P,
  outcome: Outcome<P> | undefined
): Effect.Effect<never, TurnEnded | HookRejected | HookFailed> | undefined => {
  if (outcome?.action._tag === "Reject") return Effect.fail(hookError(point, outcome))
  return abortOf(outcome)
}

/** Ends the turn when a hook aborted it. */
export const abortOf = <P extends HookPointName>(
  outcome: Outcome<P> | undefined
): Effect.Effect<never, TurnEnded> | undefined =>
  outcome?.action._tag === "Abort"
    ? endTurn({ type: "aborted", reason: outcome.action.reason, by: outcome.by ?? "hook" })
    : undefined

/** Makes the error of an operation that a hook, or the failure policy of a failed hook, rejected. */
export const hookError = <P extends HookPointName>(
  point: P,
  { action, by = "unknown", failure }: Outcome<P>
): HookRejected | HookFailed => {
  const reason = "reason" in action && typeof action.reason === "string" ? action.reason : "no reason given"
  if (failure !== undefined && failure.policy !== "open") {
    return new HookFailed({ hook: by, point, kind: failure.kind, policy: failure.policy, message: reason })
  }
  const message = `${by} rejected ${point}: ${reason}`
  return "userMessage" in action && typeof action.userMessage === "string"
    ? new HookRejected({ hook: by, point, reason, userMessage: action.userMessage, message })
    : new HookRejected({ hook: by, point, reason, message })
}
