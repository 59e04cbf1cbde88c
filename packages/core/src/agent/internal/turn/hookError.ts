/** Makes errors of outcomes. */
import { HookFailed, HookRejected } from "../../../data/AgentError.ts"
import type { Outcome } from "../../../hook/HookChain.ts"
import type { HookPointName } from "../../../hook/HookPoint.ts"

/** The error of a refused operation: a hook's word, or a broken hook's failure policy. */
export const rejected = <P extends HookPointName>(point: P, outcome: Outcome<P>): HookRejected | HookFailed => {
  const { action, by = "unknown", failure } = outcome
  const reason = "reason" in action && typeof action.reason === "string" ? action.reason : "no reason given"
  if (failure !== undefined && failure.policy !== "open") {
    return new HookFailed({ hook: by, point, kind: failure.kind, policy: failure.policy, message: reason })
  }
  const userMessage = "userMessage" in action && typeof action.userMessage === "string"
    ? { userMessage: action.userMessage }
    : {}
  return new HookRejected({ hook: by, point, reason, ...userMessage, message: `${by} rejected ${point}: ${reason}` })
}
