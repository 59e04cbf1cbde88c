/** Turns the end of a turn, and the error of a hook, into a verdict. */
import * as Effect from "effect/Effect"
import { type AgentError, HookFailed, HookRejected } from "../../../data/AgentError.ts"
import type { Denied, Stopped } from "../../Verdict.ts"
import { isTurnEnd } from "../state/turnEnd.ts"
import type { Bare, Conversation, Failure } from "./conversation.ts"

/** Turns a failure into a verdict, if it is the decision of a hook. */
export const verdictOf = (error: Failure): Effect.Effect<Bare<Denied | Stopped>, AgentError> => {
  if (isTurnEnd(error)) {
    const { end } = error
    const { by, reason } = end.type === "aborted" ? end : { by: "runtime", reason: `the turn has ended: ${end.type}` }
    return Effect.succeed({ type: "stop", reason, by })
  }
  if (error instanceof HookRejected) return Effect.succeed({ type: "deny", reason: error.reason, by: error.hook })
  if (error instanceof HookFailed) return Effect.succeed({ type: "deny", reason: error.message, by: error.hook })
  return Effect.fail(error)
}

/** Adds the texts that the driver has to show. */
export const withContext = <Verdict>(conversation: Conversation, verdict: Verdict): Verdict & {
  readonly context: ReturnType<Conversation["takeContext"]>
} => ({ ...verdict, context: conversation.takeContext() })
