/** The point `onSignal`: something happened in the host, or a tool has a question for hooks. */
import type { HostSignal, SignalAnswer } from "../../../data/Delegation.ts"
import type { Step } from "../state/yieldable.ts"
import { askHooks } from "./askHooks.ts"
import type { GuardTurn } from "./guardTurn.ts"

/** Runs the hooks. A rejection counts only if the signal can be blocked. */
export const askSignal = function*(turn: GuardTurn, signal: HostSignal): Step<SignalAnswer> {
  const outcome = yield* askHooks(turn, "onSignal", signal)
  if (outcome?.action._tag === "Respond") return { allowed: true, answer: outcome.action.output }
  return outcome?.action._tag === "Reject" && signal.blockable
    ? { allowed: false, reason: outcome.action.reason }
    : { allowed: true }
}
